import { operations } from '@inlet/contract/operations';
import type { z } from 'zod';
import { Failure } from '../../../domain/failure.ts';
import type { BucketCredentials } from '../../../domain/partner-bucket.ts';
import { Secret } from '../../../domain/secret.ts';
import { queueImport, type QueueImportDeps } from '../../../usecases/queue-import.ts';
import { partnerOf } from '../authentication.ts';
import { onceOf, type OnceDeps } from '../once-of.ts';
import type { Api } from '../server.ts';
import { answerQueued } from './queued-answer.ts';

const { path, body, answer } = operations.queueImport;

export function addQueueImport(api: Api, deps: QueueImportDeps & OnceDeps): void {
  api.post(path, { schema: { body, response: { 202: answer } } }, async (request, reply) => {
    const { file_path, path_type, key_type, compressed, mode, credentials } = request.body;
    const asked = {
      filePath: file_path,
      pathType: path_type,
      keyType: key_type,
      compressed: compressed ?? null,
      mode,
      credentials: credentials ? bucketCredentials(credentials) : null,
    };
    return answerQueued(reply, await queueImport(deps, partnerOf(request), asked, onceOf(deps, request, reply)));
  });
}

type Given = NonNullable<z.infer<typeof body>['credentials']>;

function bucketCredentials({ accessKeyId, secretAccessKey, roleArn, region }: Given): BucketCredentials {
  if (roleArn !== undefined) return { roleArn, region };
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Failure('credentials_required', 'credentials must hold keys or a role.');
  }
  return { accessKeyId, secretAccessKey: new Secret(secretAccessKey), region };
}
