import type { S3Client } from '@aws-sdk/client-s3';
import type { Logger } from 'pino';
import { migrationFolder } from '../adapters/migration-files.ts';
import { postgresAttributeStore } from '../adapters/postgres/attribute-store.ts';
import { postgresAudienceStore } from '../adapters/postgres/audience-store.ts';
import { noRole, underRole } from '../adapters/postgres/db/api-role.ts';
import { connectForCallers, connectPostgres } from '../adapters/postgres/db/connect.ts';
import { requireMigrated } from '../adapters/postgres/db/migrate.ts';
import { requireRowSecurity } from '../adapters/postgres/db/row-security.ts';
import type { Database } from '../adapters/postgres/db/tables.ts';
import { postgresAcceptedRequests } from '../adapters/postgres/idempotency-store.ts';
import { postgresImportLogStore } from '../adapters/postgres/import-log-store.ts';
import { postgresOwnStorageKeys } from '../adapters/postgres/own-access/own-storage-keys.ts';
import { postgresPartnerStore } from '../adapters/postgres/partner-store.ts';
import { postgresUsageStore } from '../adapters/postgres/usage-store.ts';
import { type BossRole, startBoss } from '../adapters/postgres/queue/queues.ts';
import { aesGcmSealer } from '../adapters/vault/aes-gcm-sealer.ts';
import type { Secret } from '../domain/secret.ts';
import { type Config, quotasOf } from './config.ts';
import { connectSharedStorage } from './shared-bucket.ts';
import { storageKeysOf } from './storage-provisioner.ts';
import { type Failpoints, failpoints } from './failpoints.ts';
import { type Observability, startObservability } from './observability/observability.ts';

export type ProcessRole = {
  readonly name: string;
  readonly boss: BossRole;
  /** Recorded in the audit log as the author of changes. */
  readonly actor?: string;
  /** Restricts every query to the calling partner's rows (row-level security). */
  readonly rows?: 'of the caller';
};

export type Connections = {
  readonly config: Config;
  readonly name: string;
  readonly log: Logger;
  readonly postgresUrl: Secret;
  readonly db: Database;
  readonly boss: Awaited<ReturnType<typeof startBoss>>;
  readonly s3: S3Client;
  readonly observability: Observability;
  readonly failpoints: Failpoints;
  readonly close: () => Promise<void>;
};

/** Connects to PostgreSQL and the object storage. ClickHouse is separate because operator commands do not need it. */
export async function connectServers(config: Config, role: ProcessRole, log: Logger): Promise<Connections> {
  await requireMigrated(config.INLET_POSTGRES_URL, migrationFolder('postgres'));
  const isRestricted = role.rows === 'of the caller' && config.INLET_API_ROLE !== noRole;
  if (isRestricted) await requireRowSecurity(config.INLET_POSTGRES_URL, config.INLET_API_ROLE);
  const postgresUrl = isRestricted
    ? underRole(config.INLET_POSTGRES_URL, config.INLET_API_ROLE)
    : config.INLET_POSTGRES_URL;
  const db = (isRestricted ? connectForCallers : connectPostgres)({
    url: postgresUrl,
    name: role.name,
    actor: role.actor,
    maxConnections: config.INLET_POSTGRES_CONNECTIONS,
    // Timeouts are short for requests, because a caller is waiting. A worker waits longer, because after a timeout it
    // would only repeat the same statement.
    ...(role.boss === 'work' ? { statementMs: 30_000, connectionMs: 30_000 } : { statementMs: 10_000 }),
    log,
  });
  const observability = await startObservability({ ...config, INLET_POSTGRES_URL: postgresUrl }, role.name, log);
  const s3 = connectSharedStorage(config);
  const boss = await startBoss({
    url: postgresUrl,
    role: role.boss,
    name: role.name,
    maxConnections: config.INLET_POSTGRES_CONNECTIONS,
    log,
  });
  return {
    config,
    name: role.name,
    log,
    postgresUrl,
    db,
    boss,
    s3,
    observability,
    failpoints: failpoints(config.INLET_FAILPOINT, log),
    close: async () => {
      await observability.close();
      await boss.stop({ graceful: false });
      await db.destroy();
      s3.destroy();
    },
  };
}

/** Stores that more than one kind of process uses. */
export function sharedStores({ config, db, boss, observability, failpoints: { wrapPort } }: Connections) {
  const { instrumentPort } = observability;
  const sealer = aesGcmSealer(config.INLET_SEALING_KEYS);
  const quotas = quotasOf(config);
  const storageKeys = storageKeysOf(config);
  const requests = instrumentPort('postgres', 'requests', wrapPort('requests', postgresAcceptedRequests(db, quotas)));
  return {
    requests,
    quotas,
    usage: instrumentPort('postgres', 'usage', postgresUsageStore(db)),
    ownStorageKeys: instrumentPort('postgres', 'ownStorageKeys', postgresOwnStorageKeys({ db, requests })),
    storageKeys: storageKeys && instrumentPort('storage', 'storageKeys', storageKeys),
    partners: instrumentPort('postgres', 'partners', postgresPartnerStore(db)),
    attributes: instrumentPort('postgres', 'attributes', postgresAttributeStore(db, quotas)),
    importLogs: instrumentPort(
      'postgres',
      'importLogs',
      wrapPort('importLogs', postgresImportLogStore(db, boss, sealer, requests, quotas)),
    ),
    audiences: instrumentPort(
      'postgres',
      'audiences',
      wrapPort('audiences', postgresAudienceStore(db, boss, requests, quotas)),
    ),
  };
}
