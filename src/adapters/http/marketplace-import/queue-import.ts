import { operations } from '@inlet/contract/operations';
import { Secret } from '../../../domain/secret.ts';
import { queueImport, type QueueImportDeps } from '../../../usecases/queue-import.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';
import { answerQueued } from './queued-answer.ts';

const { path, body, answer } = operations.queueImport;

export function addQueueImport(api: Api, deps: QueueImportDeps): void {
  api.post(path, { schema: { body, response: { 202: answer } } }, async (request, reply) => {
    const { file_path, path_type, key_type, compressed, mode, credentials } = request.body;
    const importLogId = await queueImport(deps, partnerOf(request), {
      filePath: file_path,
      pathType: path_type,
      keyType: key_type,
      compressed: compressed ?? null,
      mode,
      credentials: credentials ? { ...credentials, secretAccessKey: new Secret(credentials.secretAccessKey) } : null,
    });
    return answerQueued(reply, importLogId);
  });
}
