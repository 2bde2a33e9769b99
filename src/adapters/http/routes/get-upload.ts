import { type UploadDeps, getUpload as get } from '../../../usecases/accept/upload-files.ts';
import { scopeOf } from '../authentication.ts';
import { uploadNotFound } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { uploadExample, uploadRecord, uploadSchema } from '../records/upload.ts';
import { uploadParams } from '../schemas.ts';

export const getUpload = defineRoute({
  id: 'getUpload',
  tag: 'uploads',
  method: 'GET',
  path: '/v1/uploads/:upload_id',
  scope: ['marketplace:write', 'audience:write'],
  summary: 'Get an upload',
  description:
    'To continue an interrupted upload, returns the parts that are already stored, and new URLs for the other parts.',
  params: uploadParams,
  response: { status: 200, description: 'The upload.', schema: uploadSchema, example: uploadExample },
  problems: uploadNotFound,
  handler: (deps: UploadDeps) => async (request) =>
    uploadRecord(await get(deps, scopeOf(request), request.params.upload_id)),
});
