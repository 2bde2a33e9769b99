import type { PartnerId } from '../../../domain/ids.ts';
import type { PostgresPool } from 'kysely';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Client, DatabaseError, type Pool, type PoolClient } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import type { AsCaller, CallerScope } from '../../../ports/request-store.ts';
import { apiTables, roleRemedy, underRole } from './api-role.ts';
import { partnerSemaphore } from './partner-semaphore.ts';

/** Fails unless the policies bind the role: an api that sees all rows must not start by mistake. */
export async function requireRowSecurity(url: Secret, role: string): Promise<void> {
  const client = new Client({
    connectionString: underRole(url, role).reveal(),
    application_name: 'inlet-row-security',
    connectionTimeoutMillis: 4_000,
    query_timeout: 4_000,
  });
  client.on('error', () => undefined); // it is thrown as well
  try {
    await client.connect().catch((error: unknown) => {
      if (!(error instanceof DatabaseError)) throw error;
      throw new Error(`The role ${role} cannot be taken on: ${error.message}. ${roleRemedy(role)}`, { cause: error });
    });
    const { rows } = await client.query<{ unbound: string | null }>(
      `SELECT string_agg(name, ', ') AS unbound FROM unnest($1::text[]) AS name WHERE NOT row_security_active(name)`,
      [Object.keys(apiTables)],
    );
    const unbound = rows[0]?.unbound ?? null;
    if (unbound === null) return;
    throw new Error(
      `The role ${role} sees the rows of all partners in ${unbound}: it must not own tables, be a superuser or have BYPASSRLS.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

const callers = new AsyncLocalStorage<CallerScope>();

export const asCaller: AsCaller = (scope, run) => callers.run(scope, run);

/** Undefined before a caller is known, and for what is done for nobody in particular. */
function currentCaller(): CallerScope | undefined {
  return callers.getStore();
}

/** Read by the policies of the migration `row-security`. For the session: it is told once, and not again while the caller is the same. */
const tell = `SELECT set_config('inlet.partner', $1, false), set_config('inlet.customer', $2, false)`;

/**
 * Connections that speak for whoever the running code works for. Each time one is taken, it is made sure that PostgreSQL
 * knows for whom; one that cannot be told is closed. Without a caller a connection comes from the door, where none was ever
 * told of a caller. So a request costs one short statement more when the connection spoke for another before, else none;
 * and strangers who try keys do not take the connections of those who have one. Nor does one partner take all of them: its
 * requests may wait for each other, as when all want to queue a job.
 */
export function callersPool(door: Pool, rooms: Pool, patienceMs: number): PostgresPool {
  const told = new WeakMap<PoolClient, string>();
  const places = partnerSemaphore(Math.ceil(rooms.options.max / 2), patienceMs);

  async function connectInPlace(partnerId: PartnerId): Promise<PoolClient> {
    const leave = await places.enter(partnerId);
    try {
      const client = await rooms.connect();
      // The pool makes it anew each time it gives a connection.
      const release = client.release.bind(client);
      client.release = (isBroken) => {
        release(isBroken);
        leave();
      };
      return client;
    } catch (error) {
      leave();
      throw error;
    }
  }

  return {
    options: rooms.options,
    connect: async () => {
      const caller = currentCaller();
      if (!caller) return door.connect();
      const client = await connectInPlace(caller.partnerId);
      const words = wordsOf(caller);
      if (told.get(client) === words.join(' ')) return client;
      told.delete(client);
      try {
        await client.query(tell, words);
      } catch (error) {
        client.release(true);
        throw error;
      }
      told.set(client, words.join(' '));
      return client;
    },
    end: async () => {
      await Promise.all([door.end(), rooms.end()]);
    },
  };
}

function wordsOf({ partnerId, customerId }: CallerScope): string[] {
  return [String(partnerId), customerId === null ? '' : String(customerId)];
}
