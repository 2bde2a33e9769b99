import type { AudienceStore } from '../../../ports/audience-store.ts';
import { type RejectsDeps, getAudienceRejects as getRejects } from '../../../usecases/rejects/request-rejects.ts';
import { partnerOf, scopeOf } from '../authentication.ts';
import { defineRoute } from '../operation.ts';
import {
  audienceRejectsRecord,
  audienceRejectsSchema,
  rejectsExample,
  rejectsFileExample,
} from '../records/rejects.ts';
import { audienceFileParams } from '../schemas.ts';

type Deps = RejectsDeps & { readonly audiences: AudienceStore; readonly canAssumeRoles: boolean };

export const getAudienceRejects = defineRoute({
  id: 'getAudienceRejects',
  tag: 'audiences',
  method: 'GET',
  path: '/v2/firstparty/audience/:audience_id/files/:file_id/rejects',
  scope: 'audience:read',
  summary: "Get the export of a file's rejected rows",
  description:
    'Returns the state and the progress of the export. When it is done, `file.url` downloads the rejected rows for up to one hour without credentials.',
  params: audienceFileParams,
  response: {
    status: 200,
    description: 'The export.',
    schema: audienceRejectsSchema,
    example: { ...rejectsExample, file: rejectsFileExample },
  },
  problems: {
    not_found: { detail: 'The rejected rows of file entry 71 have not been requested, or the export has expired.' },
  },
  handler: (deps: Deps) => async (request) => {
    const { audience_id: audienceId, file_id: fileId } = request.params;
    const caller = { partner: partnerOf(request), scope: scopeOf(request) };
    return audienceRejectsRecord(caller.partner.prefix, await getRejects(deps, caller, audienceId, fileId));
  },
});
