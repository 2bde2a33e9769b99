import { type AuditEntry, type DeniedCall, actorOf } from '../../domain/audit.ts';
import type { AuditLog } from '../../ports/partner-store.ts';
import type { Database } from './db/tables.ts';

export function postgresAuditLog(db: Database): AuditLog {
  return {
    addDenied: (calls) => insertDeniedCalls(db, calls),
    list: (which) => selectAuditEntries(db, which),
  };
}

async function insertDeniedCalls(db: Database, calls: readonly DeniedCall[]): Promise<void> {
  if (calls.length === 0) return;
  const rows = calls.map((call) => ({
    at: call.at,
    event: 'call.denied',
    actor: actorOf(call),
    partner_id: call.partnerId,
    key_id: call.keyId,
    operation: call.operation,
    code: call.code,
    request_id: call.requestId,
    calls: call.calls,
    detail: call.address === null ? null : JSON.stringify({ address: call.address }),
  }));
  await db.insertInto('audit_log').values(rows).execute();
}

type Which = Parameters<AuditLog['list']>[0];

async function selectAuditEntries(db: Database, { partnerId, beforeId, limit }: Which): Promise<readonly AuditEntry[]> {
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
