import { z } from 'zod';
import type { AudienceStore } from '../../../ports/audience-store.ts';
import {
  type RejectsDeps,
  requestAudienceRejects as requestRejects,
} from '../../../usecases/rejects/request-rejects.ts';
import { partnerOf, scopeOf } from '../authentication.ts';
import { audienceNotFound, invalidRequest } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { audienceRejectsRecord, audienceRejectsSchema, rejectsExample } from '../records/rejects.ts';
import { audienceFileParams } from '../schemas.ts';

type Deps = RejectsDeps & { readonly audiences: AudienceStore; readonly canAssumeRoles: boolean };

export const requestAudienceRejects = defineRoute({
  id: 'requestAudienceRejects',
  tag: 'audiences',
  method: 'POST',
  path: '/v2/firstparty/audience/:audience_id/files/:file_id/rejects',
  isRepeatable: true,
  scope: 'audience:write',
  summary: 'Export all rejected rows of an audience file',
  description:
    'Reads a loaded or failed file again and exports every rejected row as gzipped CSV. Requesting it again returns the same export until it expires. If the file has changed since it was loaded, the export fails with `file_changed`.',
  params: audienceFileParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'RequestAudienceRejects' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: {
    status: 202,
    description: 'The export, which may have started already.',
    schema: audienceRejectsSchema,
    example: {
      ...rejectsExample,
      status: 0,
      files_total: 0,
      files_done: 0,
      bytes_read: 0,
      bytes_total: 0,
      rows: 0,
      finished_at: null,
      expires_at: null,
      file: null,
    },
    location: '/v2/firstparty/audience/1/files/71/rejects',
  },
  problems: {
    ...audienceNotFound,
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    rejects_not_available: { detail: 'File entry 71 is not loaded yet.' },
    too_many_open_jobs: { detail: 'The partner has 10 open exports of rejected rows, which is the limit.' },
  },
  handler: (deps: Deps) => async (request, reply) => {
    const { audience_id: audienceId, file_id: fileId } = request.params;
    const caller = { partner: partnerOf(request), scope: scopeOf(request) };
    const found = await requestRejects(deps, caller, audienceId, fileId);
    reply
      .code(202)
      .header('location', `/v2/firstparty/audience/${audienceId}/files/${encodeURIComponent(fileId)}/rejects`);
    return audienceRejectsRecord(caller.partner.prefix, found);
  },
});
