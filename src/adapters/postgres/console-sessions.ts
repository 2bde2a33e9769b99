import { sql } from 'kysely';
import { toScopes } from '../../domain/caller.ts';
import { type ConsoleRole, type ConsoleSession, scopesOfSession } from '../../domain/console-session.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type { ConsoleLinks, ConsoleSessions, FoundSession, NewLink, UsedLink } from '../../ports/console.ts';
import { coalesceEach } from '../coalesce.ts';
import type { Database } from './db/tables.ts';

// Before authentication, row-level security hides all rows from the API role. These functions are used instead of the
// tables and access only the row for one token.

export function postgresConsoleSessions(db: Database): ConsoleSessions {
  // Concurrent requests of one browser share a query, which starts after all of them have arrived.
  const find = coalesceEach((hash) => selectSession(db, Buffer.from(hash, 'base64')));
  return {
    open: async (tokenHash, session, { idleSeconds, absoluteSeconds }, atMost) => {
      const { role, subject, name, partnerId, customerId, apiKeyId, userTokenId, target } = session;
      await sql`SELECT open_console_session(
        ${Buffer.from(tokenHash)}, ${role}, ${subject}, ${name}, ${partnerId}, ${customerId}, ${apiKeyId},
        ${userTokenId}, ${target?.segmentId ?? null}, ${target?.audienceId ?? null}, ${idleSeconds}, ${absoluteSeconds},
        ${atMost})`.execute(db);
    },
    find: (tokenHash) => find(Buffer.from(tokenHash).toString('base64')),
    extend: async (tokenHash, { idleSeconds }) => {
      await sql`SELECT extend_console_session(${Buffer.from(tokenHash)}, ${idleSeconds})`.execute(db);
    },
    end: async (tokenHash) => {
      await sql`SELECT end_console_session(${Buffer.from(tokenHash)})`.execute(db);
    },
    useLink: (tokenHash) => useLink(db, tokenHash),
    findSubject: async (partnerName, customerName) => {
      const { rows } = await sql<{ partnerId: PartnerId; customerId: number | null }>`
        SELECT partner_id AS "partnerId", customer_id AS "customerId"
        FROM console_subject(${partnerName}, ${customerName})`.execute(db);
      return rows[0] ?? { partnerId: null, customerId: null };
    },
  };
}

type SessionRow = {
  readonly id: number;
  readonly name: string;
  readonly expires_at: Date;
  readonly idle_expires_at: Date;
} & (
  | { readonly role: 'operator' }
  | {
      readonly role: Exclude<ConsoleRole, 'operator'>;
      readonly segment_id: number;
      readonly audience_id: number;
      readonly partner_id: PartnerId;
      readonly partner_name: string;
      readonly partner_prefix: string;
      readonly customer_id: number | null;
      readonly customer_name: string;
      readonly key_scopes: readonly string[] | null;
      readonly window_id: number;
    }
);

async function selectSession(db: Database, tokenHash: Uint8Array): Promise<FoundSession | null> {
  const { rows } = await sql<SessionRow>`SELECT * FROM find_console_session(${Buffer.from(tokenHash)})`.execute(db);
  const [row] = rows;
  return row ? { session: toSession(row), idleExpiresAt: row.idle_expires_at } : null;
}

function toSession(row: SessionRow): ConsoleSession {
  const { id, name, role, expires_at: expiresAt } = row;
  if (role === 'operator') return { id, name, role, expiresAt };
  const partner = { id: row.partner_id, name: row.partner_name, prefix: row.partner_prefix };
  const customer = row.customer_id === null ? null : { id: row.customer_id, name: row.customer_name };
  const scopes = scopesOfSession(role, toScopes(row.key_scopes));
  const common = { id, name, expiresAt, partner, customer, scopes, windowId: row.window_id };
  if (role !== 'link') return { ...common, role, target: null };
  return { ...common, role, target: { segmentId: row.segment_id, audienceId: row.audience_id } };
}

type LinkRow = {
  readonly partner_id: PartnerId;
  readonly partner_name: string;
  readonly partner_prefix: string;
  readonly customer_id: number | null;
  readonly customer_name: string;
  readonly api_key_id: number;
  readonly user_token_id: number | null;
  readonly segment_id: number;
  readonly audience_id: number;
};

async function useLink(db: Database, tokenHash: Uint8Array): Promise<UsedLink | null> {
  const { rows } = await sql<LinkRow>`SELECT * FROM redeem_console_link(${Buffer.from(tokenHash)})`.execute(db);
  const [row] = rows;
  if (!row) return null;
  return {
    partner: { id: row.partner_id, name: row.partner_name, prefix: row.partner_prefix },
    customer: row.customer_id === null ? null : { id: row.customer_id, name: row.customer_name },
    apiKeyId: row.api_key_id,
    userTokenId: row.user_token_id,
    target: { segmentId: row.segment_id, audienceId: row.audience_id },
  };
}

export function postgresConsoleLinks(db: Database): ConsoleLinks {
  return { create: (tokenHash, link, limits) => insertLink(db, tokenHash, link, limits) };
}

type LinkLimits = Parameters<ConsoleLinks['create']>[2];

/** Concurrent calls can exceed the limit by the number of calls. The limit only bounds the size of the table. */
async function insertLink(
  db: Database,
  tokenHash: Uint8Array,
  { scope, apiKeyId, userTokenId, target }: NewLink,
  { seconds, atMost }: LinkLimits,
): Promise<Date | null> {
  const { rows } = await sql<{ expires_at: Date }>`
    INSERT INTO console_link (
      token_hash, partner_id, customer_id, api_key_id, user_token_id, segment_id, audience_id, expires_at)
    SELECT ${Buffer.from(tokenHash)}, ${scope.partnerId}, ${scope.customerId}, ${apiKeyId}, ${userTokenId}::bigint,
      ${target.segmentId}, ${target.audienceId}, now() + make_interval(secs => ${seconds})
    WHERE (SELECT count(*) FROM console_link WHERE partner_id = ${scope.partnerId} AND expires_at > now()) < ${atMost}
    RETURNING expires_at`.execute(db);
  return rows[0]?.expires_at ?? null;
}
