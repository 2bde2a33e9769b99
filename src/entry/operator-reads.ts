import { clickhouseEngineStatus } from '../adapters/clickhouse/engine-status.ts';
import type { OperatorDeps } from '../adapters/http/routes/operator/operator-deps.ts';
import { postgresBackupHistory } from '../adapters/postgres/backup-history.ts';
import { readOnly } from '../adapters/postgres/db/api-role.ts';
import { connectPostgres } from '../adapters/postgres/db/connect.ts';
import { postgresOperatorReads } from '../adapters/postgres/operations/operator-reads.ts';
import type { Secret } from '../domain/secret.ts';
import { quotasOf } from './config.ts';
import type { ConnectedEngine } from './connect-engine.ts';
import type { Connections } from './wire-shared.ts';

/** An operator's page sends a few requests at once. A slow one must not use up the server's connections. */
const maxConnections = 2;
const statementMs = 5_000;

/**
 * Operators see the rows of all partners, which the API role cannot read. Therefore, these reads have a separate pool,
 * which no other route uses and which exists only if there is a console. It opens a connection for the first read. See
 * docs/decisions/row-level-security.md.
 */
export function operatorReads({ config, name, log, observability }: Connections, connected: ConnectedEngine) {
  const db = connectPostgres({
    url: readOnly(config.INLET_OPERATOR_POSTGRES_URL ?? config.INLET_POSTGRES_URL),
    name: `${name}-operator`,
    maxConnections,
    statementMs,
    log,
  });
  const { instrumentPort } = observability;
  const operator: OperatorDeps = {
    reads: instrumentPort('postgres', 'operatorReads', postgresOperatorReads(db)),
    backups: instrumentPort('postgres', 'backups', postgresBackupHistory(db)),
    engineStatus: clickhouseEngineStatus(
      connected.engine,
      config.INLET_CLICKHOUSE_URLS.map((shard) => shard.map(shownUrl)),
    ),
    requireTopology: connected.requireTopology,
    quotas: quotasOf(config),
  };
  return { operator, close: () => db.destroy() };
}

/** Returns the URL without credentials and parameters, which can contain credentials too. */
function shownUrl(url: Secret): string {
  return new URL(url.reveal()).origin;
}
