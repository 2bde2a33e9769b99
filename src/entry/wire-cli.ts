import type { Logger } from 'pino';
import { postgresApiKeyStore } from '../adapters/postgres/api-key-store.ts';
import { postgresAuditLog } from '../adapters/postgres/audit-log.ts';
import { postgresBackupHistory } from '../adapters/postgres/backup-history.ts';
import { postgresCustomerStore } from '../adapters/postgres/customer-store.ts';
import { postgresLaneStore } from '../adapters/postgres/lane/lane-store.ts';
import { postgresPartnerRemovals } from '../adapters/postgres/partner-removals.ts';
import { postgresOperations } from '../adapters/postgres/operations/operations.ts';
import { postgresPartnerReads } from '../adapters/postgres/operations/operator-reads.ts';
import { randomKeys } from '../adapters/vault/keys.ts';
import { type Config, limitsOf } from './config.ts';
import { operatorName } from './operator-name.ts';
import { hasRoleIdentity } from './source-storage.ts';
import { type Connections, connectServers, sharedStores } from './wire-shared.ts';

/** Creates the dependencies of operator commands, which need no connection to ClickHouse. */
export async function wireCli(config: Config, log: Logger, name = 'inlet-cli') {
  // Disable metrics and traces, because a command ends before its metrics could be scraped.
  const settings = { ...config, INLET_METRICS_PORT: undefined, INLET_OTLP_URL: undefined };
  const connections = await connectServers(settings, { name, boss: 'send', actor: operatorName() }, log);
  return { ...cliDeps(connections), config, close: connections.close };
}

export function cliDeps(connections: Connections) {
  const { config, db, boss, s3, observability, failpoints } = connections;
  const { instrumentPort } = observability;
  const { wrapPort } = failpoints;
  return {
    ...sharedStores(connections),
    s3,
    limits: limitsOf(config),
    canAssumeRoles: hasRoleIdentity(config),
    apiKeys: randomKeys('apiKey', config.INLET_ENVIRONMENT),
    userTokens: randomKeys('userToken', config.INLET_ENVIRONMENT),
    keys: instrumentPort('postgres', 'keys', postgresApiKeyStore(db)),
    audit: instrumentPort('postgres', 'audit', postgresAuditLog(db)),
    customers: instrumentPort('postgres', 'customers', postgresCustomerStore(db)),
    lanes: instrumentPort(
      'postgres',
      'lanes',
      observability.instrumentLanes(wrapPort('lanes', postgresLaneStore(db, boss))),
    ),
    backups: instrumentPort('postgres', 'backups', postgresBackupHistory(db)),
    partnerReads: instrumentPort('postgres', 'partnerReads', postgresPartnerReads(db)),
    removals: wrapPort('removals', postgresPartnerRemovals(db)),
    operations: wrapPort('operations', postgresOperations(db, boss)),
  };
}
