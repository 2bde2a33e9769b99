import type { ImportLog, ImportLogError } from '@inlet/sdk';
import { exitCode } from '../exit-code.ts';
import { CliFailure } from '../failures/cli-failure.ts';
import { remedyOf } from '../failures/remedies.ts';
import { countOf } from '../terminal/numbers.ts';
import type { Output } from '../terminal/output.ts';
import { table, type Column } from '../terminal/table.ts';
import { describeImport, nameOfJob, placeOf, refusedRows } from './describe-import.ts';

const columns: readonly Column<ImportLogError>[] = [
  { title: 'CODE', of: ({ code }) => code },
  { title: 'COUNT', align: 'right', of: ({ count }) => countOf(count) },
  { title: 'FIRST AT', of: placeOf, canShrink: true },
  { title: 'WHY', of: ({ message }) => message, canShrink: true },
];

/** Says how a job ended. One that failed ends the command with 1. */
export function sayEnd(record: ImportLog, output: Output): void {
  output.line(record, () => {
    const errors = record.errors ?? [];
    return [describeImport(record), ...(errors.length === 0 ? [] : ['', table(columns, errors, output.stdout)])].join(
      '\n',
    );
  });
  const id = record.import_log_id;
  if (refusedRows(record) > 0) output.note(`The refused rows: inlet errors ${id}`);
  if (record.status === 3) throw failureOfJob(record);
}

export function failureOfJob(record: ImportLog): CliFailure {
  const [first] = record.errors ?? [];
  const code = first?.code ?? 'job_failed';
  const remedy = remedyOf(code);
  return new CliFailure({
    code,
    title: `${nameOfJob(record)} failed`,
    detail: first?.message ?? 'The record does not say why.',
    remedy: remedy === '' ? `See inlet errors ${record.import_log_id}` : remedy,
    exitCode: exitCode.failed,
  });
}
