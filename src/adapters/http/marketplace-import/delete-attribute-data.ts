import { queuedAnswerSchema, queueDeleteBodySchema } from '@inlet/contract/import-log';
import { queueDelete, type QueueDeleteDeps } from '../../../usecases/queue-delete.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';
import { answerQueued, path } from './queued-answer.ts';

export function addDeleteAttributeData(api: Api, deps: QueueDeleteDeps): void {
  const schema = { body: queueDeleteBodySchema, response: { 202: queuedAnswerSchema } };
  api.delete(path, { schema }, async (request, reply) => {
    const { key_type, keys } = request.body;
    return answerQueued(reply, await queueDelete(deps, partnerOf(request), { keyType: key_type, keys }));
  });
}
