import { type LoadErrorRecord, loadErrorListSchema } from '@inlet/contract/load-error';
import { csvField } from '@inlet/row-rule/text';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ErrorPage, type LoadError, firstErrorPlace } from '../../usecases/follow/list-load-errors.ts';
import { linkNext, readCursor } from './paging.ts';

/** RFC 4180, with a header line. */
function toCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number | null>>[],
): string {
  const lines = rows.map((row) => columns.map((column) => csvField(row[column])).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
}

/** Whether `Accept` likes CSV better than JSON; of two that it likes as well, the first. JSON for whoever names neither. */
export function wantsCsv(accept = ''): boolean {
  const liked = accept.split(',').map(toRange);
  const csv = liked.find(({ type }) => type === 'text/csv');
  const json = liked.find(({ type }) => type === 'application/json');
  if (!csv || csv.quality === 0) return false;
  if (!json) return true;
  return csv.quality === json.quality ? liked.indexOf(csv) < liked.indexOf(json) : csv.quality > json.quality;
}

function toRange(text: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return { type, quality: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 1 };
}

const columns = ['file', 'row', 'column', 'code', 'message', 'text'] as const;

/** The records, or the same as CSV. */
export const loadErrorsAnswer = z.union([loadErrorListSchema, z.string()]);

/** A page of refused rows and failed files, as JSON or, for `Accept: text/csv`, as CSV. */
export async function answerLoadErrors(
  request: FastifyRequest<{ Querystring: { limit: number; cursor?: string | undefined } }>,
  reply: FastifyReply,
  name: string,
  list: (page: ErrorPage) => Promise<readonly LoadError[]>,
): Promise<LoadErrorRecord[] | string> {
  const { limit, cursor } = request.query;
  const [fileId, row] = readCursor(cursor, name, 2);
  const after = fileId === undefined || row === undefined ? firstErrorPlace : { fileId, row };
  const lines = await list({ after, limit });
  const last = lines.at(-1);
  if (last && lines.length === limit) linkNext(request, reply, limit, { list: name, place: [last.fileId, last.row] });
  const records = lines.map(errorRecord);
  if (!wantsCsv(request.headers.accept)) return records;
  reply.header('content-type', 'text/csv; charset=utf-8').serializer((text: unknown) => String(text));
  return toCsv(columns, records);
}

function errorRecord({ fileId, file, row, column, code, message, text }: LoadError): LoadErrorRecord {
  return { file, row: fileId === 0 || row === 0 ? null : row, column, code, message, text };
}
