import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type ErrorPage, type LoadError, firstErrorPlace } from '../../usecases/follow/list-load-errors.ts';
import { prefersCsv, sendCsv } from './csv.ts';
import { type errorListQuery, maxErrors } from './list-filters.ts';
import { pageOf, readCursor } from './paging.ts';
import { type LoadErrorRecord, loadErrorRecord } from './records/load-error.ts';

const columns = ['file', 'row', 'column', 'code', 'message', 'text'] as const;

/** How to read the lists of errors as CSV, for their descriptions. */
export const errorsAsCsv = `Send \`Accept: text/csv\` for CSV, which has up to ${maxErrors} lines unless you send \`limit\`. In CSV, values that a spreadsheet would interpret as a formula are prefixed with an apostrophe.`;

/** Returns a page of rejected rows and failed files. The format is CSV for `Accept: text/csv` and otherwise JSON. */
export async function loadErrorsResponse(
  request: FastifyRequest<{ Querystring: z.infer<typeof errorListQuery> }>,
  reply: FastifyReply,
  name: string,
  list: (page: ErrorPage) => Promise<readonly LoadError[]>,
): Promise<LoadErrorRecord[] | FastifyReply> {
  const { cursor, code, file } = request.query;
  const isCsv = prefersCsv(request.headers.accept);
  // A person who saves the list as a file does not follow links, so a page is as large as possible.
  const limit = isCsv && !hasLimit(request) ? maxErrors : request.query.limit;
  const [fileId, row] = readCursor(cursor, name, 2);
  const after = fileId === undefined || row === undefined ? firstErrorPlace : { fileId, row };
  const items = await list({ after, limit: limit + 1, filter: { code, file } });
  const errors = pageOf(request, reply, { list: name, limit, items }, (error) => [error.fileId, error.row]);
  return isCsv ? sendCsv(reply, columns, errors, loadErrorRecord) : errors.map(loadErrorRecord);
}

/** The parsed query has the default value if the request has no `limit`. */
function hasLimit({ url }: FastifyRequest): boolean {
  return new URLSearchParams(/\?(.*)$/s.exec(url)?.[1]).has('limit');
}
