import type { DryRun, DryRunFile } from '@inlet/sdk';
import { remedyOf } from '../failures/api-errors.ts';
import { CliFailure, exitCode } from '../failures/cli-failure.ts';
import { bytesOf, countOf, several } from '../terminal/format.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, table } from '../terminal/table.ts';

const columns: readonly Column<DryRunFile>[] = [
  { title: 'FILE', of: ({ file }) => file, canShrink: true },
  { title: 'ACCEPTED', align: 'right', of: ({ accepted_rows }) => countOf(accepted_rows) },
  { title: 'REJECTED', align: 'right', of: ({ rejected_rows }) => countOf(rejected_rows) },
  { title: 'SAMPLE', of: ({ complete }) => (complete ? 'whole file' : 'first rows') },
  {
    title: 'WHY',
    of: ({ error, reasons }) => [error?.code, ...reasons.map(({ code }) => code)].filter(Boolean).join(', '),
    canShrink: true,
  },
];

/** Prints the prediction. Throws if the import or one of its files would fail, so that the command exits with code 1. */
export function printDryRun(found: DryRun, output: Output): void {
  output.result(found, () => {
    const total = `${several(found.files_total, 'file')}, ${bytesOf(found.bytes_total)}`;
    return found.files.length === 0 ? total : `${total}\n\n${table(columns, found.files, output.stdout)}`;
  });
  if (found.files_total > found.files.length) output.note(`Only the first ${found.files.length} files were sampled.`);
  const error = found.error ?? found.files.find((file) => file.error !== null)?.error;
  if (!error) return;
  throw new CliFailure({
    code: error.code,
    title: 'The import would fail',
    detail: error.message,
    remedy: remedyOf(error.code),
    exitCode: exitCode.failed,
  });
}
