import type { AudienceScope } from '../../../domain/audience.ts';
import type { Database, Tx } from '../connect.ts';
import { inScope } from './in-scope.ts';

/** The audience, if it is in the scope. Audiences are never removed, so what was found stays. */
export async function findAudience(
  db: Database | Tx,
  scope: AudienceScope,
  audienceId: number,
): Promise<{ generation: number } | undefined> {
  return one(db, scope, audienceId).executeTakeFirst();
}

/** The same; and nobody clears it until the transaction ends. */
export async function lockAudience(tx: Tx, scope: AudienceScope, audienceId: number): Promise<{ generation: number }> {
  return one(tx, scope, audienceId).forNoKeyUpdate().executeTakeFirstOrThrow();
}

function one(db: Database | Tx, scope: AudienceScope, audienceId: number) {
  return db.selectFrom('audience').select('generation').where('id', '=', audienceId).where(inScope(scope));
}
