import type { ImportErrorLineRecord } from '@inlet/contract/import-log';
import { operations } from '@inlet/contract/operations';
import { z } from 'zod';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import type { Warehouse } from '../../../ports/warehouse.ts';
import { firstErrorPlace, listImportErrors, type ImportErrorLine } from '../../../usecases/list-import-errors.ts';
import { partnerOf } from '../authentication.ts';
import { toCsv } from '../csv.ts';
import { linkNext, readCursor } from '../paging.ts';
import type { Api } from '../server.ts';

type Deps = { readonly importLogs: ImportLogStore; readonly warehouse: Warehouse };

const columns = ['file', 'row', 'column', 'code', 'message', 'text'] as const;

const { path, params, query, answer } = operations.listImportErrors;

/** A page of refused rows and failed files, as JSON or, for `Accept: text/csv`, as CSV. */
export function addListImportErrors(api: Api, deps: Deps): void {
  const schema = { params, querystring: query, response: { 200: z.union([answer, z.string()]) } };
  api.get(path, { schema }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const [fileId, row] = readCursor(cursor, 2);
    const after = fileId === undefined || row === undefined ? firstErrorPlace : { fileId, row };
    const page = { after, limit };
    const lines = await listImportErrors(deps, partnerOf(request), request.params.import_log_id, page);
    const last = lines.at(-1);
    if (last && lines.length === limit) linkNext(request, reply, limit, [last.fileId, last.row]);
    const records = lines.map(errorRecord);
    if (!wantsCsv(request.headers.accept)) return records;
    return reply
      .header('content-type', 'text/csv; charset=utf-8')
      .serializer((text: unknown) => String(text))
      .send(toCsv(columns, records));
  });
}

function errorRecord({ file, row, column, code, message, text }: ImportErrorLine): ImportErrorLineRecord {
  return { file, row: row === 0 ? null : row, column, code, message, text };
}

function wantsCsv(accept: string | undefined): boolean {
  return accept !== undefined && /\btext\/csv\b/i.test(accept);
}
