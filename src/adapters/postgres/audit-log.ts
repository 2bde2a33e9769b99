import type { AuditLog } from '../../ports/audit-log.ts';
import { insertDeniedCalls } from './audit/insert-denied-calls.ts';
import { selectAuditEntries } from './audit/select-audit-entries.ts';
import type { Database } from './connect.ts';

export function postgresAuditLog(db: Database): AuditLog {
  return {
    addDenied: (calls) => insertDeniedCalls(db, calls),
    list: (which) => selectAuditEntries(db, which),
  };
}
