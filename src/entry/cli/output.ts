import { Failure } from '../../domain/failure.ts';
import type { Page } from '../../ports/partner-store.ts';

// Results are written to standard output and notes to standard error, so that scripts can parse the results.

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
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
  if (!Number.isSafeInteger(id)) throw new Failure('not_found', `"${text}" is not a valid ${kind} ID.`);
  return id;
}

/** Entries per page. */
const limit = 1_000;

export function pageAfter(kind: string, id: string | undefined): Page {
  return { afterId: id === undefined ? 0 : parseId(kind, id), limit };
}

export function noteIfMore(listed: readonly { readonly id: number }[]): void {
  if (listed.length === limit) printNote(`There may be more entries. Continue with --after ${listed.at(-1)?.id}.`);
}
