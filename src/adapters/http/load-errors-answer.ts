import type { LoadErrorRecord } from '@inlet/contract/load-error';
import { loadErrorListSchema } from '@inlet/contract/load-error';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { firstErrorPlace, type ErrorPage, type LoadError } from '../../usecases/list-load-errors.ts';
import { toCsv } from './csv.ts';
import { linkNext, readCursor } from './paging.ts';
import { wantsCsv } from './wants-csv.ts';

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
