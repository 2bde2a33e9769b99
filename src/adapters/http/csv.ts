import { csvField } from '@inlet/row-rule/text';
import type { FastifyReply } from 'fastify';
import { setImmediate } from 'node:timers/promises';

type CsvRow<Column extends string> = Readonly<Record<Column, string | number | null>>;

/** The number of lines that are formatted before other requests are processed. */
const linesPerPortion = 1_000;

/** Sends items as CSV with a header line (RFC 4180). The response is not streamed, so that its size is known. */
export async function sendCsv<Column extends string, Item>(
  reply: FastifyReply,
  columns: readonly Column[],
  items: readonly Item[],
  rowOf: (item: Item) => CsvRow<Column>,
): Promise<FastifyReply> {
  const line = (item: Item): string => {
    const row = rowOf(item);
    return `${columns.map((column) => csvField(row[column])).join(',')}\r\n`;
  };
  const portions = [Buffer.from(`${columns.join(',')}\r\n`)];
  for (let start = 0; start < items.length; start += linesPerPortion) {
    if (start > 0) await setImmediate();
    portions.push(
      Buffer.from(
        items
          .slice(start, start + linesPerPortion)
          .map(line)
          .join(''),
      ),
    );
  }
  return reply.header('content-type', 'text/csv; charset=utf-8').send(Buffer.concat(portions));
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
