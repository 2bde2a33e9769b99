import { z } from 'zod';
import { type UploadDeps, completeUpload as complete } from '../../../usecases/accept/upload-files.ts';
import { scopeOf } from '../authentication.ts';
import { invalidRequest, uploadNotFound } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { uploadParams } from '../schemas.ts';

export const completeUpload = defineRoute({
  id: 'completeUpload',
  tag: 'uploads',
  method: 'POST',
  path: '/v1/uploads/:upload_id/complete',
  scope: ['marketplace:write', 'audience:write'],
  isRepeatable: true,
  summary: 'Complete an upload',
  description:
    'Stores the file once all parts are uploaded. Nothing is loaded until you submit its path to an import or an audience. Completing an upload again has no effect.',
  params: uploadParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'CompleteUpload' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: {
    status: 200,
    description: 'The file is stored.',
    schema: z
      .object({ file_path: z.string().meta({ description: 'The path to import or to load into an audience.' }) })
      .meta({ id: 'CompletedUpload' }),
    example: { file_path: 'summer/1.csv.gz' },
  },
  problems: {
    ...uploadNotFound,
    ...invalidRequest({ pointer: '/parts', detail: 'Unknown field "parts".' }),
    upload_incomplete: { detail: 'Part 2 of the upload is not stored.' },
  },
  handler: (deps: UploadDeps) => async (request) => {
    const { filePath } = await complete(deps, scopeOf(request), request.params.upload_id);
    return { file_path: filePath };
  },
});
