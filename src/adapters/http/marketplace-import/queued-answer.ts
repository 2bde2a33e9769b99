import { operations } from '@inlet/contract/operations';
import type { FastifyReply } from 'fastify';

/** Decision 21: accepted, and where to follow it. */
export function answerQueued(reply: FastifyReply, importLogId: number): { import_log_id: number } {
  // The line that ties the request's id to the job's.
  reply.log.info({ jobId: importLogId }, 'job accepted');
  reply.code(202).header('location', operations.getImportLog.path.replace(':import_log_id', String(importLogId)));
  return { import_log_id: importLogId };
}
