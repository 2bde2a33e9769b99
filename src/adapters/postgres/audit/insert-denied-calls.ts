import type { DeniedCall } from '../../../domain/audit.ts';
import type { Database } from '../connect.ts';

export async function insertDeniedCalls(db: Database, calls: readonly DeniedCall[]): Promise<void> {
  if (calls.length === 0) return;
  const rows = calls.map((call) => ({
    at: call.at,
    event: 'call.denied',
    actor: call.keyId === null ? 'unknown' : `key ${call.keyId}`,
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
