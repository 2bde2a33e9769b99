import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorFilter } from '../../domain/list-filters.ts';
import { type ErrorPage, type LoadError, firstErrorPlace } from '../../usecases/follow/list-load-errors.ts';
import { prefersCsv, sendCsv } from './csv.ts';
import { pageOf, readCursor } from './paging.ts';
import { type LoadErrorRecord, loadErrorRecord } from './records/load-error.ts';

const columns = ['file', 'row', 'column', 'code', 'message', 'text'] as const;

/** Returns a page of rejected rows and failed files. The format is CSV for `Accept: text/csv` and otherwise JSON. */
export async function loadErrorsResponse(
  request: FastifyRequest<{ Querystring: { limit: number; cursor?: string | undefined } & ErrorFilter }>,
  reply: FastifyReply,
  name: string,
  list: (page: ErrorPage) => Promise<readonly LoadError[]>,
): Promise<LoadErrorRecord[] | FastifyReply> {
  const { limit, cursor, code, file } = request.query;
  const [fileId, row] = readCursor(cursor, name, 2);
  const after = fileId === undefined || row === undefined ? firstErrorPlace : { fileId, row };
  const items = await list({ after, limit: limit + 1, filter: { code, file } });
  const errors = pageOf(request, reply, { list: name, limit, items }, (error) => [error.fileId, error.row]);
  return prefersCsv(request.headers.accept)
    ? sendCsv(reply, columns, errors, loadErrorRecord)
    : errors.map(loadErrorRecord);
}
