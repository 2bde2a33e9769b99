import { operations } from '@inlet/contract/operations';
import { queueDelete, type QueueDeleteDeps } from '../../../usecases/queue-delete.ts';
import { partnerOf } from '../authentication.ts';
import { onceOf, type OnceDeps } from '../once-of.ts';
import type { Api } from '../server.ts';
import { answerQueued } from './queued-answer.ts';

const { path, body, answer } = operations.deleteAttributeData;

export function addDeleteAttributeData(api: Api, deps: QueueDeleteDeps & OnceDeps): void {
  api.delete(path, { schema: { body, response: { 202: answer } } }, async (request, reply) => {
    const { key_type, keys } = request.body;
    const asked = { keyType: key_type, keys };
    return answerQueued(reply, await queueDelete(deps, partnerOf(request), asked, onceOf(deps, request, reply)));
  });
}
