import type { FastifyReply } from 'fastify';

export const path = '/v1/marketplace/import';

/** Decision 21: accepted, and where to follow it. */
export function answerQueued(reply: FastifyReply, importLogId: number): { import_log_id: number } {
  reply.code(202).header('location', `${path}/${importLogId}`);
  return { import_log_id: importLogId };
}
