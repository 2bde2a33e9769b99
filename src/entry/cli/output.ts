import { type Column, type Output, type OutputOptions, table, timeOf, wrongUse } from '@inlet/cli';
import type { Command } from 'commander';
import { type JobStatus, jobStatus } from '../../domain/job.ts';
import type { Page } from '../../ports/partner-store.ts';

export type { OutputOptions };

/** Creates an operator command with the options that every command has. */
export function operatorCommand(
  parent: Command,
  name: string,
  description: string,
  { isDefault = false }: { readonly isDefault?: boolean } = {},
): Command {
  return parent
    .command(name, { isDefault })
    .description(description)
    .option('--json', 'print the result as JSON')
    .option('-q, --quiet', 'print only the result and errors');
}

/** Prints a table, or the records as JSON. */
export function printList<T extends object>(
  output: Output,
  columns: readonly Column<T>[],
  records: readonly T[],
  ifEmpty: string,
): void {
  output.result(records, () => (records.length === 0 ? ifEmpty : table(columns, records, output.stdout)));
}

/** Prints lines as soon as they are found. With --json, they are part of the result instead. */
export function lineCollector(output: Output): { readonly lines: string[]; readonly add: (line: string) => void } {
  const lines: string[] = [];
  const add = (line: string): void => {
    lines.push(line);
    if (!output.isJson) print(line);
  };
  return { lines, add };
}

/** Formats a time for tables. */
export function when(time: Date | null): string {
  return time === null ? '-' : timeOf(time.toISOString());
}

export function yesOrNo(is: boolean): string {
  return is ? 'yes' : 'no';
}

/** Returns the name of a status, for example `failed`. */
export function statusName(status: JobStatus): string {
  return Object.entries(jobStatus).find(([, code]) => code === status)?.[0] ?? `status ${status}`;
}

// Results are written to standard output and notes to standard error, so that scripts can parse the results.

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Wraps a string at word boundaries. Without a terminal (`columns` undefined), the string stays on one line. */
export function wrapText(text: string, columns: number | undefined, indent: string): string {
  const most = columns ?? Infinity;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines.join('\n');
}

/** Accepts plain decimal numbers only. JavaScript would read `1e1` as 10. */
export function parseId(kind: string, text: string): number {
  const id = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw wrongUse(`"${text}" is not a valid ${kind} ID.`, 'IDs are whole numbers.');
  return id;
}

/** Entries per page. */
const limit = 1_000;

export function pageAfter(kind: string, id: string | undefined): Page {
  return { afterId: id === undefined ? 0 : parseId(kind, id), limit };
}

export function noteIfMore(output: Output, listed: readonly { readonly id: number }[]): void {
  if (listed.length === limit) output.note(`There may be more entries. Continue with --after ${listed.at(-1)?.id}.`);
}
