import { Client } from 'pg';
import { noRole } from '../../adapters/postgres/db/api-role.ts';
import { requireRowSecurity } from '../../adapters/postgres/db/row-security.ts';
import { rebuiltKnownDevices } from '../../adapters/postgres/known-devices-store.ts';
import { selectQueueStats } from '../../adapters/postgres/queue/queue-stats.ts';
import { thresholds } from '../../usecases/admin/evaluate-alerts.ts';
import type { Config } from '../config.ts';
import { type Check, clockRemedy, describeClock } from './run-checks.ts';
import { type Done, schemaCheck, schemaCheckName } from './schema-check.ts';

const server = 'PostgreSQL';
/** The checks without which statements on Inlet's tables fail. */
export const controlPlane = [server, schemaCheckName(server)];

type Ask = <T>(run: (client: Client) => Promise<T>) => Promise<T>;

function connectionTo(config: Config): Ask {
  return async (run) => {
    const client = new Client({
      connectionString: config.INLET_POSTGRES_URL.reveal(),
      application_name: 'inlet-doctor',
      connectionTimeoutMillis: 4_000,
      query_timeout: 4_000,
    });
    client.on('error', () => undefined); // the same error is also thrown
    try {
      await client.connect();
      return await run(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
}

export function postgresChecks(config: Config): Check[] {
  const ask = connectionTo(config);
  return [
    {
      name: server,
      needs: [],
      remedy: 'Start PostgreSQL, or fix INLET_POSTGRES_URL. Until then, the api responds with 503 and workers wait.',
      run: () =>
        ask(async (client) => {
          const { rows } = await client.query<{ version: string; used: string; connection_limit: string }>(
            `SELECT current_setting('server_version') AS version, count(*) AS used, current_setting('max_connections') AS connection_limit
             FROM pg_stat_activity`,
          );
          const [row] = rows;
          if (!row) throw new Error('PostgreSQL returned no row');
          if (Number(row.used) > 0.9 * Number(row.connection_limit)) {
            throw new Error(`${row.used} of ${row.connection_limit} connections are in use; increase max_connections`);
          }
          return `version ${row.version}, ${row.used} of ${row.connection_limit} connections in use`;
        }),
    },
    schemaCheck(server, 'postgres', {
      needs: [server],
      listDone: () =>
        ask(async (client) => (await client.query<Done>('SELECT name, checksum FROM schema_migration')).rows),
    }),
    {
      name: 'Clock of PostgreSQL',
      needs: [server],
      remedy: clockRemedy,
      run: () =>
        ask(async (client) => {
          const { rows } = await client.query<{ now: number; zone: string }>(
            `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, current_setting('TimeZone') AS zone`,
          );
          return describeClock(Number(rows[0]?.now), rows[0]?.zone ?? '');
        }),
    },
    {
      name: 'Prefixes of partners',
      needs: controlPlane,
      remedy:
        "Restore the partner's prefix in the table partner. Its storage credentials and its files belong to the old prefix. Until then, its imports fail with no_files.",
      run: () =>
        ask(async (client) => {
          const { rows } = await client.query<{ names: string | null }>(
            `SELECT string_agg(DISTINCT format('%s (%s)', p.name, p.prefix), ', ') AS names
             FROM (SELECT * FROM job_file ORDER BY id DESC LIMIT 1000) f
             JOIN partner p ON p.id = f.partner_id LEFT JOIN import_log l ON l.job_id = f.job_id
             WHERE coalesce(l.path_type, 0) = 0 AND NOT starts_with(f.key, p.prefix)`,
          );
          const names = rows[0]?.names ?? null;
          if (names !== null) throw new Error(`files were loaded from a prefix other than that of ${names}`);
          return 'match the files that were loaded last';
        }),
    },
    {
      name: 'API role',
      needs: controlPlane,
      remedy: 'Fix the role. The api does not start without it. See docs/deploy.md.',
      run: async () => {
        if (config.INLET_API_ROLE === noRole) return 'none; the api can read the rows of all partners';
        await requireRowSecurity(config.INLET_POSTGRES_URL, config.INLET_API_ROLE);
        return `${config.INLET_API_ROLE} can read only the calling partner's rows`;
      },
    },
    {
      name: 'Workers',
      needs: controlPlane,
      remedy: 'Start at least one worker. Until then, accepted jobs wait. No job is lost.',
      run: () =>
        ask(async (client) => {
          const { workers } = await selectQueueStats(client);
          if (workers === 0) throw new Error('no worker is connected');
          return `${workers} connected`;
        }),
    },
    {
      name: 'Known devices',
      needs: controlPlane,
      remedy: 'Run `inlet known-devices rebuild`. The worker log contains the error. See docs/operators/incidents.md.',
      run: () =>
        ask(async (client) => {
          if (config.INLET_KNOWN_DEVICES_DAYS === 0) return 'not rebuilt (INLET_KNOWN_DEVICES_DAYS is 0)';
          const { rows } = await client.query<{ days: number }>(
            `SELECT extract(epoch FROM now() - ran_at)::float8 / 86400 AS days FROM sweep WHERE name = $1`,
            [rebuiltKnownDevices],
          );
          const [row] = rows;
          if (!row) return 'not rebuilt yet';
          const message = `rebuilt ${Math.floor(row.days)} days ago`;
          if (row.days > config.INLET_KNOWN_DEVICES_DAYS + 1) throw new Error(message);
          return message;
        }),
    },
    {
      name: 'Erasures',
      needs: controlPlane,
      remedy: 'Run `inlet privacy list` to see what the oldest one waits for. See docs/operators/incidents.md.',
      run: () =>
        ask(async (client) => {
          const { openErasures, oldestErasureSeconds } = await selectQueueStats(client);
          const message = `${openErasures} open, oldest ${oldestErasureSeconds} s`;
          if (oldestErasureSeconds > thresholds.InletErasureOverdue) throw new Error(message);
          return message;
        }),
    },
    {
      name: 'Unseen devices',
      needs: controlPlane,
      remedy:
        'Fix what the failure names. Workers try again every ten minutes. `inlet partner show` shows the next attempt.',
      run: () =>
        ask(async (client) => {
          const { rows } = await client.query<{ partners: number; failures: string | null }>(
            `SELECT count(*)::int AS partners, string_agg(format('%s: %s', p.name, r.failure), '; ') FILTER (WHERE r.failure IS NOT NULL) AS failures
             FROM device_retention r JOIN partner p ON p.id = r.partner_id WHERE p.device_days IS NOT NULL OR r.is_removing`,
          );
          const [row] = rows;
          if (!row) throw new Error('PostgreSQL returned no row');
          if (row.failures !== null) throw new Error(`not removed: ${row.failures.slice(0, 1_000)}`);
          return `removed for ${row.partners} partners`;
        }),
    },
  ];
}

/** A lane waits if anything else is wrong, so the other checks come first. */
export function lanesCheck(config: Config, others: readonly Check[]): Check {
  const ask = connectionTo(config);
  return {
    name: 'Lanes',
    needs: others.map(({ name }) => name),
    remedy:
      'Run `inlet lanes` to see which lanes are waiting and why the last attempt of each failed. The worker log contains the errors.',
    run: () =>
      ask(async (client) => {
        const { openJobs, oldestSeconds, lanesWithoutToken, waitingTokens } = await selectQueueStats(client);
        const message = openJobs === 0 ? 'no open jobs' : `${openJobs} open jobs, the oldest for ${oldestSeconds} s`;
        if (lanesWithoutToken > 0)
          throw new Error(`${lanesWithoutToken} lanes have open jobs but no token; ${message}`);
        if (waitingTokens > 0) throw new Error(`${waitingTokens} tokens are waiting for a retry; ${message}`);
        return message;
      }),
  };
}
