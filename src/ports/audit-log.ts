import type { AuditEntry, DeniedCall } from '../domain/audit.ts';
import type { PartnerId } from '../domain/partner.ts';

/** Only added to. Changes of keys, partners and what they have are written by the database itself. */
export interface AuditLog {
  addDenied(calls: readonly DeniedCall[]): Promise<void>;
  /** Newest first. Of all partners, and of nobody, when none is named. */
  list(which: {
    readonly partnerId: PartnerId | null;
    readonly beforeId: number;
    readonly limit: number;
  }): Promise<readonly AuditEntry[]>;
}
