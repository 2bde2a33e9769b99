import { z } from 'zod';
import { maxOpenUploads, uploadHours } from '../../../domain/upload.ts';
import { type UploadDeps, startUpload as start } from '../../../usecases/accept/upload-files.ts';
import { partnerOf, scopeOf } from '../authentication.ts';
import { invalidFilePath, invalidRequest } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { uploadExample, uploadRecord, uploadSchema } from '../records/upload.ts';
import { filePath } from '../schemas.ts';

const body = z
  .strictObject({
    file_path: filePath.meta({ description: "The path of the new file, relative to the partner's prefix." }),
    bytes: z.int().min(1).meta({ description: 'Size of the file.' }),
  })
  .meta({ id: 'StartUpload' });

export const startUpload = defineRoute({
  id: 'startUpload',
  tag: 'uploads',
  method: 'POST',
  path: '/v1/uploads',
  scope: ['marketplace:write', 'audience:write'],
  isRepeatable: true,
  summary: 'Start an upload',
  description: `Starts the upload of a file to the shared bucket and returns a URL for each of its parts. Send the parts in any order, then complete the upload. An existing file is replaced when the upload is completed. With a user token, the file is stored in a folder of that customer. A partner can have ${maxOpenUploads} open uploads. An upload expires after ${uploadHours} hours. Expired uploads do not count and are removed.`,
  body,
  bodyExamples: { file: { summary: 'A file of 12 MiB', value: { file_path: 'summer/1.csv.gz', bytes: 12_582_912 } } },
  response: {
    status: 201,
    description: 'The upload is started.',
    schema: uploadSchema,
    example: uploadExample,
    location: '/v1/uploads/k1.Ew2dBnXJ4Yh8w0aZ',
  },
  problems: {
    ...invalidRequest({ pointer: '/bytes', detail: 'bytes must be at least 1.' }),
    ...invalidFilePath,
    too_many_uploads: { detail: `The partner has ${maxOpenUploads} open uploads, which is the limit.` },
  },
  handler: (deps: UploadDeps) => async (request, reply) => {
    const { file_path, bytes } = request.body;
    const uploader = { partner: partnerOf(request), scope: scopeOf(request) };
    const upload = await start(deps, uploader, { filePath: file_path, bytes });
    reply.code(201).header('location', `${request.routeOptions.url}/${upload.uploadId}`);
    return uploadRecord(upload);
  },
});
