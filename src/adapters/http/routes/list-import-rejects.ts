import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { type RejectsDeps, listImportRejects as list } from '../../../usecases/rejects/request-rejects.ts';
import { partnerOf } from '../authentication.ts';
import { invalidPage } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { pageOf, readCursor } from '../paging.ts';
import { rejectsFileExample, rejectsFileListSchema, rejectsFileRecord } from '../records/rejects.ts';
import { importLogParams, pageQuery } from '../schemas.ts';

const listName = 'import rejects';

export const listImportRejects = defineRoute({
  id: 'listImportRejects',
  tag: 'imports',
  method: 'GET',
  path: '/v1/marketplace/import/:import_log_id/rejects/files',
  scope: 'marketplace:read',
  summary: 'List the exported files of rejected rows',
  description:
    'Lists every file of the import that has rejected rows, with a URL that downloads its rejected rows. A URL is valid for up to one hour and needs no credentials. The CSV columns are `file`, `row`, `column`, `code`, and `text`, which is the exact line.',
  params: importLogParams,
  query: pageQuery(1000, 100),
  response: {
    status: 200,
    description: 'A page of files.',
    schema: rejectsFileListSchema,
    example: [rejectsFileExample],
    isPaged: true,
  },
  problems: {
    not_found: { detail: 'The rejected rows of import log 1 have not been requested, or the export has expired.' },
    ...invalidPage(1000),
  },
  handler: (deps: RejectsDeps & { readonly importLogs: ImportLogStore }) => async (request, reply) => {
    const { limit, cursor } = request.query;
    const [afterId = 0] = readCursor(cursor, listName, 1);
    const partner = partnerOf(request);
    const items = await list(deps, partner, request.params.import_log_id, { afterId, limit: limit + 1 });
    const page = pageOf(request, reply, { list: listName, limit, items }, ({ fileId }) => [fileId]);
    return page.map((file) => rejectsFileRecord(partner.prefix, file));
  },
});
