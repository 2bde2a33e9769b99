import type { AuditEntry } from '../../../domain/audit.ts';
import type { AuditLog } from '../../../ports/audit-log.ts';
import type { Database } from '../connect.ts';

type Which = Parameters<AuditLog['list']>[0];

export async function selectAuditEntries(
  db: Database,
  { partnerId, beforeId, limit }: Which,
): Promise<readonly AuditEntry[]> {
  let query = db
    .selectFrom('audit_log')
    .where('id', '<', beforeId)
    .orderBy('id', 'desc')
    .limit(limit)
    .select([
      'id',
      'at',
      'event',
      'actor',
      'database_user as databaseUser',
      'partner_id as partnerId',
      'key_id as keyId',
      'subject_id as subjectId',
      'operation',
      'code',
      'request_id as requestId',
      'calls',
      'detail',
    ]);
  if (partnerId !== null) query = query.where('partner_id', '=', partnerId);
  return query.execute();
}
