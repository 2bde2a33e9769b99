import { csvField } from '@inlet/row-rule/text';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorPage, type LoadError, firstErrorPlace } from '../../usecases/follow/list-load-errors.ts';
import { pageOf, readCursor } from './paging.ts';
import { type LoadErrorRecord, loadErrorRecord } from './records/load-error.ts';

/** Formats rows as CSV with a header line (RFC 4180). */
function toCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number | null>>[],
): string {
  const lines = rows.map((row) => columns.map((column) => csvField(row[column])).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
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

const columns = ['file', 'row', 'column', 'code', 'message', 'text'] as const;

/** Returns a page of rejected rows and failed files. The format is CSV for `Accept: text/csv` and otherwise JSON. */
export async function loadErrorsResponse(
  request: FastifyRequest<{ Querystring: { limit: number; cursor?: string | undefined } }>,
  reply: FastifyReply,
  name: string,
  list: (page: ErrorPage) => Promise<readonly LoadError[]>,
): Promise<LoadErrorRecord[] | FastifyReply> {
  const { limit, cursor } = request.query;
  const [fileId, row] = readCursor(cursor, name, 2);
  const after = fileId === undefined || row === undefined ? firstErrorPlace : { fileId, row };
  const items = await list({ after, limit: limit + 1 });
  const errors = pageOf(request, reply, { list: name, limit, items }, (error) => [error.fileId, error.row]);
  const records = errors.map(loadErrorRecord);
  if (!prefersCsv(request.headers.accept)) return records;
  return reply
    .header('content-type', 'text/csv; charset=utf-8')
    .serializer((text: unknown) => String(text))
    .send(toCsv(columns, records));
}
