import type { ImportFileRecord } from '@inlet/contract/import-log';
import { operations } from '@inlet/contract/operations';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import type { LoadedFile } from '../../../ports/records.ts';
import { listImportFiles } from '../../../usecases/follow/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import { invalidPage, pageParameters } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { linkNext, readCursor } from '../paging.ts';
import type { Api } from '../api.ts';
import { importLogIdParameter, noSuchImport } from './import-log-record.ts';

export const listImportFilesDocumentation: OperationDocumentation = {
  summary: 'List the files of an import',
  description:
    'Every file of the import, in the order of their paths, with what became of it. The list is empty until the import starts.',
  params: importLogIdParameter,
  query: pageParameters,
  answer: {
    description: 'A page of files.',
    example: [
      {
        file: 'with-bad-rows.csv',
        status: 2,
        total_rows: 3,
        rejected_rows: 1,
        bytes: 113,
        bytes_read: 113,
        error: null,
        updated_at: '2026-11-15T01:12:18.654Z',
      },
    ],
    isPaged: true,
  },
  failures: { ...noSuchImport, ...invalidPage },
};

const { path, params, query, answer } = operations.listImportFiles;

export function addListImportFiles(api: Api, deps: { importLogs: ImportLogStore }): void {
  const schema = { params, querystring: query, response: { 200: answer } };
  api.get(path, { schema }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const [afterId = 0] = readCursor(cursor, 'import files', 1);
    const page = { afterId, limit };
    const files = await listImportFiles(deps, partnerOf(request), request.params.import_log_id, page);
    const last = files.at(-1);
    if (last && files.length === limit) linkNext(request, reply, limit, { list: 'import files', place: [last.id] });
    return files.map(fileRecord);
  });
}

function fileRecord(file: LoadedFile): ImportFileRecord {
  return {
    file: file.path,
    status: file.status,
    total_rows: file.totalRows,
    rejected_rows: file.rejectedRows,
    bytes: file.bytes,
    bytes_read: file.bytesRead,
    error: file.failure && { code: file.failure.code, message: file.failure.detail },
    updated_at: file.updatedAt.toISOString(),
  };
}
