import { type DryRunDeps, dryRunImport as dryRun } from '../../../usecases/accept/dry-run-import.ts';
import { partnerOf } from '../authentication.ts';
import { defineRoute } from '../operation.ts';
import { dryRunExample, dryRunRecord, dryRunSchema } from '../records/dry-run.ts';
import { importBody, importProblems, newImportOf } from './queue-import.ts';

export const dryRunImport = defineRoute({
  id: 'dryRunImport',
  tag: 'imports',
  method: 'POST',
  path: '/v1/marketplace/import/dry-run',
  isRead: true,
  scope: 'marketplace:write',
  summary: 'Predict the result of an import',
  description:
    'Lists the files of an import and validates the first 1,000 lines (at most 4 MiB) of each of the first 20 files. Nothing is queued or stored, and the credentials of your own bucket are used only for this request. If `complete` is true, the sample is the whole file, so its result is certain unless the file or your attributes change.',
  body: importBody,
  bodyExamples: {
    file: { summary: 'One file', value: { file_path: 'with-bad-rows.csv', key_type: 1 } },
    prefix: {
      summary: 'All gzipped files under a prefix',
      value: { file_path: 'daily/2026-11-15/', key_type: 0, compressed: true },
    },
  },
  response: { status: 200, description: 'The prediction.', schema: dryRunSchema, example: dryRunExample },
  problems: importProblems,
  handler: (deps: DryRunDeps) => async (request) =>
    dryRunRecord(await dryRun(deps, partnerOf(request), newImportOf(request.body))),
});
