import { Client, DatabaseError } from 'pg';
import type { Secret } from '../../domain/secret.ts';
import { roleRemedy, underRole } from './api-role.ts';
import { apiTables } from './api-rights.ts';

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
