import { Client } from 'pg';
import { noRole } from '../../adapters/postgres/db/api-role.ts';
import { requireRowSecurity } from '../../adapters/postgres/db/row-security.ts';
import { findWhatWaits } from '../../adapters/postgres/queue/queue-stats.ts';
import type { Config } from '../config.ts';
import type { Check } from './run-checks.ts';
import { type Done, schemaCheck } from './schema-check.ts';

/** Of PostgreSQL itself, and of the work whose state it holds. */
export function postgresChecks(config: Config): Check[] {
  const ask = async <T>(run: (client: Client) => Promise<T>): Promise<T> => {
    const client = new Client({
      connectionString: config.INLET_POSTGRES_URL.reveal(),
      application_name: 'inlet-doctor',
      connectionTimeoutMillis: 4_000,
      query_timeout: 4_000,
    });
    client.on('error', () => undefined); // it is thrown as well
    try {
      await client.connect();
      return await run(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  return [
    {
      name: 'PostgreSQL',
      remedy: 'Start PostgreSQL, or mend INLET_POSTGRES_URL. Until then the api answers 503 and workers wait.',
      run: () =>
        ask(async (client) => {
          const { rows } = await client.query<{ version: string; used: string; most: string }>(
            `SELECT current_setting('server_version') AS version, count(*) AS used, current_setting('max_connections') AS most
             FROM pg_stat_activity`,
          );
          const [row] = rows;
          if (!row) throw new Error('it gave no answer');
          if (Number(row.used) > 0.9 * Number(row.most)) {
            throw new Error(`${row.used} of ${row.most} connections are in use: raise max_connections`);
          }
          return `${row.version}, ${row.used} of ${row.most} connections in use`;
        }),
    },
    schemaCheck('PostgreSQL', 'postgres', () =>
      ask(async (client) => (await client.query<Done>('SELECT name, checksum FROM schema_migration')).rows),
    ),
    {
      name: 'Role of the api',
      remedy: 'Until then the api does not start. See deploy.md, "The role of the api".',
      run: async () => {
        if (config.INLET_API_ROLE === noRole) return 'none: the api may read the rows of all partners';
        await requireRowSecurity(config.INLET_POSTGRES_URL, config.INLET_API_ROLE);
        return `${config.INLET_API_ROLE} sees the rows of the partner who calls`;
      },
    },
    {
      name: 'Workers',
      remedy: 'Start at least one worker. Accepted jobs wait until there is one; none is lost.',
      run: () =>
        ask(async (client) => {
          const { workers } = await findWhatWaits(client);
          if (workers === 0) throw new Error('no worker is connected');
          return `${workers} connected`;
        }),
    },
    {
      name: 'Lanes',
      remedy: 'See `inlet lanes` for which, and the log of the workers for why ("a server is away", "attempt failed").',
      run: () =>
        ask(async (client) => {
          const { openJobs, oldestSeconds, lanesWithoutToken, waitingTokens } = await findWhatWaits(client);
          const message = `${openJobs} open jobs, the oldest for ${oldestSeconds} s`;
          if (lanesWithoutToken > 0)
            throw new Error(`${lanesWithoutToken} lanes have open jobs and no token; ${message}`);
          if (waitingTokens > 0) throw new Error(`${waitingTokens} tokens wait until they are tried again; ${message}`);
          return message;
        }),
    },
  ];
}
