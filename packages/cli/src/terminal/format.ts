import { csvField } from '@inlet/row-rule/text';
import type { Paint } from './output.ts';
import { escapeTerminal } from './text.ts';

/** Formats a number with commas in every locale, for example 1,234,567. */
export function countOf(number: number | string): string {
  return Number(number).toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** Formats a size with three digits and decimal units (1 MB is a million bytes). */
export function bytesOf(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${units[unit]}`;
}

export function durationOf(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Returns a number and a noun, for example `2 rows` or `1 row`. */
export function several(number: number, one: string, many = `${one}s`): string {
  return `${countOf(number)} ${number === 1 ? one : many}`;
}

/** Formats a timestamp for tables, without fractions of a second. JSON has the full precision. */
export function timeOf(timestamp: string): string {
  return timestamp.replace(/^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.\d+)?Z$/, '$1 $2');
}

/** Returns one line of RFC 4180 CSV, in the same format as the API. */
export function csvLine<Name extends string>(
  columns: readonly Name[],
  row: Readonly<Record<Name, string | number | null>>,
): string {
  return columns.map((column) => csvField(row[column])).join(',');
}

export function csvHeading(columns: readonly string[]): string {
  return columns.join(',');
}

const words = ['pending', 'running', 'done', 'failed'] as const;
const paints = ['dim', 'cyan', 'green', 'red'] as const satisfies readonly Paint[];

type HasStatus = { readonly status: 0 | 1 | 2 | 3 };

export function statusWord({ status }: HasStatus): string {
  return words[status] ?? escapeTerminal(`status ${String(status)}`);
}

export function statusPaint({ status }: HasStatus): Paint | undefined {
  return paints[status];
}
