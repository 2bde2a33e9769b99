import { csvField } from '@inlet/row-rule/text';
import type { FastifyReply } from 'fastify';

type CsvRow<Column extends string> = Readonly<Record<Column, string | number | null>>;

/** Sends rows as CSV with a header line (RFC 4180). */
export function sendCsv<Column extends string>(
  reply: FastifyReply,
  columns: readonly Column[],
  rows: readonly CsvRow<Column>[],
): FastifyReply {
  const lines = rows.map((row) => columns.map((column) => csvField(row[column])).join(','));
  return reply
    .header('content-type', 'text/csv; charset=utf-8')
    .serializer((text: unknown) => String(text))
    .send([columns.join(','), ...lines, ''].join('\r\n'));
}

/** Whether `Accept` prefers CSV to JSON. If the weights are equal, the first media type wins. JSON is the default. */
export function prefersCsv(accept = ''): boolean {
  const ranges = accept.split(',').map(toRange);
  const csv = ranges.find(({ type }) => type === 'text/csv');
  const json = ranges.find(({ type }) => type === 'application/json');
  if (!csv || csv.quality === 0) return false;
  if (!json) return true;
  return csv.quality === json.quality ? ranges.indexOf(csv) < ranges.indexOf(json) : csv.quality > json.quality;
}

function toRange(text: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return { type, quality: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 1 };
}
