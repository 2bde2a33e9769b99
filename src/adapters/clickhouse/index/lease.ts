import type { Fold } from '../../../ports/device-index.ts';
import type { Server } from '../connect.ts';
import { type Session, inFoldSession } from './session.ts';

export const restored = 'If PostgreSQL was restored, run inlet index rebuild.';

/** Throws if another worker has taken the lease. */
export async function requireLease(session: Session, leaseId: number): Promise<void> {
  const [row] = await session.rows<{ lease: string }>('SELECT toString(max(lease_id)) AS lease FROM index_lease_local');
  if (Number(row?.lease) === leaseId) return;
  const cause = 'Another worker updates the device index.';
  throw new Error(`the lease of the device index is ${row?.lease}, not ${leaseId}. ${cause} ${restored}`);
}

/**
 * Runs a fold on one shard. Throws if another worker has taken the lease, because the statements then insert no rows.
 */
export function foldOn<T>(shard: Server, { leaseId }: Fold, work: (session: Session) => Promise<T>): Promise<T> {
  return inFoldSession(shard, async (session) => {
    const result = await work(session);
    await requireLease(session, leaseId);
    return result;
  });
}
