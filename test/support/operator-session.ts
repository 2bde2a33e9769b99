import { postgresConsoleSessions } from '../../src/adapters/postgres/console-sessions.ts';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import { randomTokens } from '../../src/adapters/vault/random-tokens.ts';
import { rememberSecrets } from './known-secrets.ts';
import { silentLog } from './silent-log.ts';
import type { TestStores } from './stores.ts';

/** Opens the session of an operator directly in the database. Returns the request headers of the operator's browser. */
export async function operatorHeaders({ config }: Pick<TestStores, 'config'>): Promise<{ cookie: string }> {
  const db = connectPostgres({
    url: config.INLET_POSTGRES_URL,
    name: 'test-session',
    maxConnections: 1,
    log: silentLog,
  });
  try {
    const { token, hash } = randomTokens.issue();
    const session = {
      subject: 'dana',
      name: 'Dana Fox',
      partnerId: null,
      customerId: null,
      apiKeyId: null,
      userTokenId: null,
      target: null,
    };
    const times = { idleSeconds: 3_600, absoluteSeconds: 3_600 };
    await postgresConsoleSessions(db).open(hash, { ...session, role: 'operator' }, times, 100);
    rememberSecrets(token.reveal());
    return { cookie: `inlet_session=${token.reveal()}` };
  } finally {
    await db.destroy();
  }
}
