import { z } from 'zod';
import { type UploadDeps, abortUpload as abort } from '../../../usecases/accept/upload-files.ts';
import { scopeOf } from '../authentication.ts';
import { invalidRequest, uploadNotFound } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { uploadParams } from '../schemas.ts';

export const abortUpload = defineRoute({
  id: 'abortUpload',
  tag: 'uploads',
  method: 'DELETE',
  path: '/v1/uploads/:upload_id',
  scope: ['marketplace:write', 'audience:write'],
  isRepeatable: true,
  summary: 'Abort an upload',
  description: 'Removes the parts of an upload. A completed upload is not changed.',
  params: uploadParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'AbortUpload' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: { status: 204, description: 'The upload is aborted, or was completed or aborted before.' },
  problems: {
    ...uploadNotFound,
    ...invalidRequest({ pointer: '/parts', detail: 'Unknown field "parts".' }),
  },
  handler: (deps: UploadDeps) => async (request, reply) => {
    await abort(deps, scopeOf(request), request.params.upload_id);
    return reply.code(204).send();
  },
});
