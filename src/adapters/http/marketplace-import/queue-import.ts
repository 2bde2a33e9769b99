import { queueImportAnswerSchema, queueImportBodySchema } from '@inlet/contract/import-log';
import { queueImport, type QueueImportDeps } from '../../../usecases/queue-import.ts';
import { partnerOf } from '../authentication.ts';
import type { Api } from '../server.ts';

export function addQueueImport(api: Api, deps: QueueImportDeps): void {
  api.post(
    '/v1/marketplace/import',
    { schema: { body: queueImportBodySchema, response: { 202: queueImportAnswerSchema } } },
    async (request, reply) => {
      const { file_path, path_type, key_type, compressed } = request.body;
      const importLogId = await queueImport(deps, partnerOf(request), {
        filePath: file_path,
        pathType: path_type,
        keyType: key_type,
        compressed: compressed ?? null,
      });
      reply.code(202).header('location', `/v1/marketplace/import/${importLogId}`);
      return { import_log_id: importLogId };
    },
  );
}
