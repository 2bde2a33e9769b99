import type { PostgresPool } from 'kysely';
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Pool, type PoolClient, Client, DatabaseError } from 'pg';
import { Failure } from '../../../domain/failure.ts';
import type { PartnerId } from '../../../domain/ids.ts';
import type { Secret } from '../../../domain/secret.ts';
import type { AsCaller, CallerScope } from '../../../ports/request-store.ts';
import { apiTables, roleRemedy, underRole } from './api-role.ts';

/**
 * Throws unless the row-level security policies apply to the role. An API process that can read all rows must not
 * start.
 */
export async function requireRowSecurity(url: Secret, role: string): Promise<void> {
  const client = new Client({
    connectionString: underRole(url, role).reveal(),
    application_name: 'inlet-row-security',
    connectionTimeoutMillis: 4_000,
    query_timeout: 4_000,
  });
  client.on('error', () => undefined); // the failing call also rejects
  try {
    await client.connect().catch((error: unknown) => {
      if (!(error instanceof DatabaseError)) throw error;
      throw new Error(`The role ${role} cannot be assumed: ${error.message}. ${roleRemedy(role)}`, { cause: error });
    });
    const { rows } = await client.query<{ unbound: string | null }>(
      `SELECT string_agg(name, ', ') AS unbound FROM unnest($1::text[]) AS name WHERE NOT row_security_active(name)`,
      [Object.keys(apiTables)],
    );
    const unbound = rows[0]?.unbound ?? null;
    if (unbound === null) return await requirePrivileges(client, role);
    throw new Error(
      `The role ${role} sees the rows of all partners in ${unbound}: it must not own tables, be a superuser or have BYPASSRLS.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Throws if a privilege is missing, because each request that needs it would fail. */
async function requirePrivileges(client: Client, role: string): Promise<void> {
  for (const privilege of ['SELECT', 'INSERT']) {
    const tables = Object.entries(apiTables).flatMap(([table, rights]) => (rights.includes(privilege) ? [table] : []));
    const { rows } = await client.query<{ missing: string | null }>(
      `SELECT string_agg(name, ', ') AS missing FROM unnest($1::text[]) AS name WHERE NOT has_any_column_privilege(name, $2)`,
      [tables, privilege],
    );
    const missing = rows[0]?.missing ?? null;
    if (missing !== null) throw new Error(`The role ${role} lacks ${privilege} on ${missing}. Run \`inlet migrate\`.`);
  }
}

const callers = new AsyncLocalStorage<CallerScope>();

export const asCaller: AsCaller = (scope, run) => callers.run(scope, run);

/** Returns undefined before authentication and for work without a caller. */
function currentCaller(): CallerScope | undefined {
  return callers.getStore();
}

/**
 * The policies in the `row-security` migration read the first two settings, and the `requesters` migration describes the
 * others. They are set per session, and only when the caller changes.
 */
const setCaller = `SELECT set_config('inlet.partner', $1, false), set_config('inlet.customer', $2, false),
  set_config('inlet.caller', $3, false), set_config('inlet.requester', $4, false)`;

/**
 * A pool whose connections are bound to the current caller. Every checkout sets the session's caller if it has changed,
 * and closes the connection if that fails. A request therefore needs one extra short statement only if the connection
 * last served another caller. Work without a caller uses a separate pool, whose connections never have a caller.
 * Unauthenticated requests cannot exhaust the callers' connections, and one partner can use at most half of those
 * connections.
 */
export function callersPool(anonymousPool: Pool, callerPool: Pool, timeoutMs: number): PostgresPool {
  const callerOf = new WeakMap<PoolClient, string>();
  const semaphore = partnerSemaphore(Math.ceil(callerPool.options.max / 2), timeoutMs);

  async function connectWithPermit(partnerId: PartnerId): Promise<PoolClient> {
    const releasePermit = await semaphore.acquire(partnerId);
    try {
      const client = await callerPool.connect();
      // The pool replaces `release` at every checkout.
      const release = client.release.bind(client);
      client.release = (isBroken) => {
        release(isBroken);
        releasePermit();
      };
      return client;
    } catch (error) {
      releasePermit();
      throw error;
    }
  }

  return {
    options: callerPool.options,
    connect: async () => {
      const caller = currentCaller();
      if (!caller) return anonymousPool.connect();
      const client = await connectWithPermit(caller.partnerId);
      const settings = settingsOf(caller);
      if (callerOf.get(client) === settings.join('\n')) return client;
      callerOf.delete(client);
      try {
        await client.query(setCaller, settings);
      } catch (error) {
        client.release(true);
        throw error;
      }
      callerOf.set(client, settings.join('\n'));
      return client;
    },
    end: async () => {
      await Promise.all([anonymousPool.end(), callerPool.end()]);
    },
  };
}

function settingsOf({ partnerId, customerId, caller }: CallerScope): string[] {
  const customer = customerId === 'every' ? '*' : String(customerId ?? '');
  return [String(partnerId), customer, caller?.actor ?? '', caller?.requester ?? ''];
}

export type PartnerSemaphore = {
  /** Waits for a permit and returns the function that releases it. */
  readonly acquire: (partnerId: PartnerId) => Promise<() => void>;
};

/** Grants each partner at most `limit` permits at a time. Further requests wait in order and fail after the timeout. */
export function partnerSemaphore(limit: number, timeoutMs: number): PartnerSemaphore {
  const partners = new Map<number, { taken: number; readonly waiting: Set<() => void> }>();
  return {
    acquire: async (partnerId) => {
      const of = partners.get(partnerId) ?? { taken: 0, waiting: new Set() };
      partners.set(partnerId, of);
      if (of.taken < limit) of.taken += 1;
      else await waitForPermit(of.waiting, timeoutMs);
      return () => {
        const [next] = of.waiting;
        if (next) {
          next();
          return;
        }
        of.taken -= 1;
        if (of.taken === 0) partners.delete(partnerId);
      };
    },
  };
}

function waitForPermit(waiting: Set<() => void>, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const take = (): void => {
      clearTimeout(timer);
      waiting.delete(take);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.delete(take);
      reject(new Failure('unavailable', "Too many of this partner's requests are waiting for the database."));
    }, timeoutMs);
    waiting.add(take);
  });
}
