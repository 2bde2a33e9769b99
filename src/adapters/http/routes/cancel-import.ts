import { z } from 'zod';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { cancelImport as cancel } from '../../../usecases/accept/change-imports.ts';
import { partnerOf } from '../authentication.ts';
import { importLogNotFound, invalidRequest } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { importLogParams } from '../schemas.ts';

export const cancelImport = defineRoute({
  id: 'cancelImport',
  tag: 'imports',
  method: 'POST',
  path: '/v1/marketplace/import/:import_log_id/cancel',
  scope: 'marketplace:write',
  summary: 'Cancel an import',
  description:
    'Cancels an import, or a delete that has not started. Files that have already been read completely are still loaded. All others are not loaded at all. The import log then ends with status 3. It names the canceled files and says who canceled it and when.',
  params: importLogParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'CancelImport' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: {
    status: 204,
    description: 'The import is canceled. Its record is final when the jobs ahead of it have ended.',
  },
  problems: {
    ...importLogNotFound,
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    import_not_cancelable: { detail: 'Import log 1 is done.' },
  },
  handler: (deps: { readonly importLogs: ImportLogStore } & IdempotencyDeps) => async (request, reply) => {
    const idempotent = idempotentRequestOf(deps, request, reply);
    await cancel(deps, partnerOf(request), request.params.import_log_id, idempotent);
    return reply.code(204).send();
  },
});
