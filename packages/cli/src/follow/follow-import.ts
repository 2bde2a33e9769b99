import type { ImportLog, ImportLogError, Inlet } from '@inlet/sdk';
import { remedyOf, valueOf } from '../failures/api-errors.ts';
import { CliFailure, exitCode, interrupted } from '../failures/cli-failure.ts';
import { countOf } from '../terminal/format.ts';
import { type Output, untilInterrupted } from '../terminal/output.ts';
import { Rate, live } from '../terminal/progress-bar.ts';
import { type Column, table } from '../terminal/table.ts';
import { barOfImport, describeImport, nameOfJob, placeOf, rejectedRows } from './describe-import.ts';

export type ProgressReport<T> = {
  /** The lines must already be escaped. */
  show(record: T, lines: readonly string[]): void;
  end(): void;
};

/** On a terminal, redraws the lines in place. Otherwise, prints each new line once. With --json, prints the record. */
export function progressReport<T>(output: Output): ProgressReport<T> {
  if (output.isLive) {
    const screen = live(output.stderr);
    return { show: (_record, lines) => screen.draw(lines), end: () => screen.clear() };
  }
  let last: ReadonlySet<string> = new Set();
  return {
    show: (record, lines) => {
      if (output.isJson) {
        if (!output.isQuiet) output.line(record, () => '');
        return;
      }
      for (const line of lines) if (!last.has(line)) output.note(line);
      last = new Set(lines);
    },
    end: () => {},
  };
}

const columns: readonly Column<ImportLogError>[] = [
  { title: 'CODE', of: ({ code }) => code },
  { title: 'COUNT', align: 'right', of: ({ count }) => countOf(count) },
  { title: 'FIRST AT', of: placeOf, canShrink: true },
  { title: 'WHY', of: ({ message }) => message, canShrink: true },
];

/** Appends a table of the failures and their reasons. */
export function withReasons(text: string, { errors }: Pick<ImportLog, 'errors'>, stream: NodeJS.WriteStream): string {
  return errors === null || errors.length === 0 ? text : `${text}\n\n${table(columns, errors, stream)}`;
}

/** Prints the outcome of a job. Throws if the job failed, so that the command exits with code 1. */
function printOutcome(record: ImportLog, output: Output): void {
  output.line(record, () => withReasons(describeImport(record), record, output.stdout));
  const id = record.import_log_id;
  if (rejectedRows(record) > 0) output.note(`List the rejected rows: inlet errors ${id}`);
  if (record.status === 3) throw failureOfJob(record);
}

export function failureOfJob(record: ImportLog): CliFailure {
  const [first] = record.errors ?? [];
  const code = first?.code ?? 'job_failed';
  const remedy = remedyOf(code);
  return new CliFailure({
    code,
    title: `${nameOfJob(record)} failed`,
    detail: first?.message ?? 'The record has no error message.',
    remedy: remedy === '' ? `Run: inlet errors ${record.import_log_id}` : remedy,
    exitCode: exitCode.failed,
  });
}

/** Shows the progress of a job until it completes, and then its outcome. */
export async function followImport(inlet: Inlet, importLogId: number, output: Output): Promise<void> {
  const report = progressReport<ImportLog>(output);
  const rate = new Rate();
  // Without a terminal, omit the bar and the rate, because they change with every update.
  const lineOf = (record: ImportLog): string =>
    output.isLive ? barOfImport(record, rate.perSecond, output.stderr.columns - 1) : describeImport(record);
  let name = `import ${importLogId}`;
  const onProgress = (record: ImportLog): void => {
    name = nameOfJob(record);
    rate.note(record.progress.bytes_read);
    if (record.status < 2) report.show(record, [lineOf(record)]);
  };
  const ended = await untilInterrupted((signal) =>
    inlet.waitFor({ import_log_id: importLogId }, { onProgress, signal }),
  );
  report.end();
  if (!ended.ok && ended.problem.code === 'aborted') {
    throw interrupted(`${name} continues. Follow it with: inlet imports ${importLogId} --watch`);
  }
  printOutcome(valueOf(ended), output);
}

type Queued = { readonly import_log_id: number };

/** Reports a queued job. With --watch, shows its progress until it completes. */
export async function reportQueued(
  inlet: Inlet,
  queued: Queued,
  { log_type, watch }: { readonly log_type: ImportLog['log_type']; readonly watch: boolean },
  output: Output,
): Promise<void> {
  const { import_log_id } = queued;
  const text = `${nameOfJob({ import_log_id, log_type })} is queued`;
  if (watch) {
    output.note(text);
    await followImport(inlet, import_log_id, output);
    return;
  }
  output.result(queued, () => text);
  output.note(`Follow it with: inlet imports ${import_log_id} --watch`);
}
