import type { ImportLog } from '../../../domain/import-log.ts';
import type { Partner } from '../../../domain/partner.ts';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import type { FollowedRecords } from '../../../usecases/follow/followed-records.ts';
import { getImportLog as get, noSuchImportLog } from '../../../usecases/follow/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import { type Resource, answerConditionalGet, memoizeRepresentation } from '../conditional-get.ts';
import { conditionalGetHeaders, importLogNotFound, notModified } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { type ImportLogRecord, importLogExample, importLogRecord, importLogSchema } from '../records/import-log.ts';
import { importLogParams } from '../schemas.ts';

export type ImportLogDeps = {
  readonly importLogs: ImportLogStore;
  readonly following: Pick<FollowedRecords, 'imports'>;
};

export const getImportLog = defineRoute({
  id: 'getImportLog',
  tag: 'imports',
  method: 'GET',
  path: '/v1/marketplace/import/:import_log_id',
  scope: 'marketplace:read',
  summary: 'Get an import log',
  description:
    'Returns one import or delete with its progress. The record is final when `status` is 2 (done) or 3 (error). Rejected rows do not cause an import to fail. They are counted in `errors` (at most 100 entries), and `GET …/errors` lists them individually.',
  params: importLogParams,
  headers: conditionalGetHeaders,
  response: {
    status: 200,
    description: 'The import log.',
    schema: importLogSchema,
    example: importLogExample,
    isConditional: true,
  },
  otherResponses: notModified,
  problems: importLogNotFound,
  handler: (deps: ImportLogDeps) => (request, reply) =>
    answerConditionalGet(request, reply, importLogResource(deps, partnerOf(request), request.params.import_log_id)),
});

export function importLogResource(
  deps: ImportLogDeps,
  partner: Partner,
  importLogId: number,
): Resource<ImportLog, ImportLogRecord> {
  return {
    read: () => get(deps, partner, importLogId),
    subscribe: (interest) => deps.following.imports.follow({ partnerId: partner.id, importLogId }, interest),
    notFound: () => noSuchImportLog(importLogId),
    represent,
  };
}

/** The estimate changes as time passes, so it is not part of the ETag. */
const represent = memoizeRepresentation(importLogRecord, (record: ImportLogRecord) => ({
  ...record,
  progress: { ...record.progress, estimated_seconds_left: undefined },
}));
