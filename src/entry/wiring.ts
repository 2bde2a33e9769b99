import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { clickhouseAudienceWarehouse } from '../adapters/clickhouse/audience-warehouse.ts';
import { type Engine, type Shard, closeEngine, connectEngine, onEveryShard } from '../adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../adapters/clickhouse/load-stage.ts';
import { clickhouseWarehouse } from '../adapters/clickhouse/warehouse.ts';
import type { Dependency } from '../adapters/http/routes/health.ts';
import { postgresApiKeyStore } from '../adapters/postgres/api-key-store.ts';
import { postgresAttributeStore } from '../adapters/postgres/attribute-store.ts';
import { postgresAudienceStore } from '../adapters/postgres/audience-store.ts';
import { postgresAuditLog } from '../adapters/postgres/audit-log.ts';
import { postgresCustomerStore } from '../adapters/postgres/customer-store.ts';
import { noRole, underRole } from '../adapters/postgres/db/api-role.ts';
import { connectForCallers, connectPostgres } from '../adapters/postgres/db/connect.ts';
import { asCaller, requireRowSecurity } from '../adapters/postgres/db/row-security.ts';
import { postgresFileStore } from '../adapters/postgres/file-store.ts';
import { postgresAcceptedRequests } from '../adapters/postgres/idempotency-store.ts';
import { postgresImportLogStore } from '../adapters/postgres/import-log-store.ts';
import { postgresLaneStore } from '../adapters/postgres/lane/lane-store.ts';
import { postgresOperations } from '../adapters/postgres/operations/operations.ts';
import { postgresPartnerStore } from '../adapters/postgres/partner-store.ts';
import { type BossRole, startBoss } from '../adapters/postgres/queue/queues.ts';
import { postgresRequestWindows } from '../adapters/postgres/request-windows.ts';
import { connectS3 } from '../adapters/s3/connect.ts';
import { s3ObjectStore } from '../adapters/s3/object-store.ts';
import { aesGcmSealer } from '../adapters/vault/aes-gcm-sealer.ts';
import { randomKeys, requestFingerprint } from '../adapters/vault/keys.ts';
import { accessRecorder } from '../usecases/access/record-access.ts';
import { wireComposition } from './composition.ts';
import { type Config, limitsOf, partnerNetworksOf } from './config.ts';
import { failpoints } from './failpoints.ts';
import { wireFollowing } from './following.ts';
import { frontDoorOf, requestLimitsOf } from './front-door-settings.ts';
import { issuedTokensOf } from './issuer.ts';
import { observe } from './observation/observe.ts';
import { partnerRoles } from './partner-roles.ts';
import { sourceStorage } from './source-storage.ts';

/** Connects the adapters: what api, worker and command line have in common. */
export async function wire(
  config: Config,
  role: { name: string; boss: BossRole; actor?: string; rows?: 'of the caller' },
  log: Logger,
) {
  const isBound = role.rows === 'of the caller' && config.INLET_API_ROLE !== noRole;
  if (isBound) await requireRowSecurity(config.INLET_POSTGRES_URL, config.INLET_API_ROLE);
  const postgresUrl = isBound ? underRole(config.INLET_POSTGRES_URL, config.INLET_API_ROLE) : config.INLET_POSTGRES_URL;
  const db = (isBound ? connectForCallers : connectPostgres)({
    url: postgresUrl,
    name: role.name,
    actor: role.actor,
    maxConnections: config.INLET_POSTGRES_CONNECTIONS,
    // Somebody waits for an answer; a lane can wait longer. If it gave up it would only begin again, and ask for more.
    ...(role.boss === 'work' ? { statementMs: 30_000, connectionMs: 30_000 } : { statementMs: 10_000 }),
    log,
  });
  const observation = await observe({ ...config, INLET_POSTGRES_URL: postgresUrl }, role.name, log);
  const { ofPort, ofShard: withFailpoints } = failpoints(config.INLET_FAILPOINT, log);
  const { ofPort: observed } = observation;
  const connected = connectEngine({
    urls: config.INLET_CLICKHOUSE_URLS,
    database: config.INLET_CLICKHOUSE_DATABASE,
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    name: role.name,
  });
  const ofShard = (shard: Shard, index: number): Shard => withFailpoints(observation.ofShard(shard, index));
  const [firstShard, ...otherShards] = connected.shards;
  const shards: Engine['shards'] = [
    ofShard(firstShard, 0),
    ...otherShards.map((shard, index) => ofShard(shard, index + 1)),
  ];
  const engine: Engine = { ...connected, shards };
  const s3 = connectS3({
    endpoint: config.INLET_S3_ENDPOINT ?? null,
    region: config.INLET_S3_REGION,
    accessKeyId: config.INLET_S3_ACCESS_KEY_ID,
    secretAccessKey: config.INLET_S3_SECRET_ACCESS_KEY,
  });
  const boss = await startBoss({
    url: postgresUrl,
    role: role.boss,
    name: role.name,
    maxConnections: config.INLET_POSTGRES_CONNECTIONS,
    log,
  });
  const sealer = aesGcmSealer(config.INLET_SEALING_KEYS);
  const shared = s3ObjectStore(s3, config.INLET_S3_BUCKET);
  const files = postgresFileStore(db, boss, config.INLET_FILES_OUT_PER_LANE);
  const partners = postgresPartnerStore(db);
  const keys = observed('postgres', 'keys', postgresApiKeyStore(db));
  const audit = observed('postgres', 'audit', postgresAuditLog(db));
  const requests = observed('postgres', 'requests', ofPort('requests', postgresAcceptedRequests(db)));
  const { canAssumeRoles, keysOfRole } = partnerRoles(config, partners);
  const composition = wireComposition({ config, db, engine, log, observed });
  const importLogs = observed(
    'postgres',
    'importLogs',
    ofPort('importLogs', postgresImportLogStore(db, boss, sealer, requests)),
  );
  const audiences = observed('postgres', 'audiences', ofPort('audiences', postgresAudienceStore(db, boss, requests)));
  const following = wireFollowing({ config, postgresUrl, name: role.name, importLogs, audiences, log });
  const dependencies: Dependency[] = [
    {
      name: 'postgres',
      isNeededByRequests: true,
      check: async () => void (await sql`SELECT 1`.execute(db)),
    },
    {
      name: 'clickhouse',
      isNeededByRequests: false,
      check: async (abort_signal) =>
        void (await onEveryShard(engine, (shard) => shard.command({ query: 'SELECT 1', abort_signal }))),
    },
    {
      name: 'bucket',
      isNeededByRequests: false,
      check: async (abortSignal) =>
        void (await s3.send(new HeadBucketCommand({ Bucket: config.INLET_S3_BUCKET }), { abortSignal })),
    },
  ];
  return {
    db,
    asCaller,
    ofPort,
    observation,
    trace: observation.trace,
    noteRetry: observation.noteRetry,
    ofRequests: observation.ofRequests,
    boss,
    s3,
    dependencies,
    limits: limitsOf(config),
    requestLimits: requestLimitsOf(config),
    httpLimits: frontDoorOf(config),
    requestWindows: observed('postgres', 'requestWindows', postgresRequestWindows(db)),
    issuedTokens: issuedTokensOf(config, log, (port) => observed('issuer', 'issuer', port)),
    apiKeys: randomKeys('apiKey', config.INLET_ENVIRONMENT),
    userTokens: randomKeys('userToken', config.INLET_ENVIRONMENT),
    keys,
    audit,
    access: accessRecorder({ keys, audit, log }),
    canAssumeRoles,
    partners: observed('postgres', 'partners', partners),
    customers: observed('postgres', 'customers', postgresCustomerStore(db)),
    attributes: observed('postgres', 'attributes', postgresAttributeStore(db)),
    requests,
    fingerprint: requestFingerprint(config.INLET_SEALING_KEYS),
    importLogs,
    lanes: observed('postgres', 'lanes', observation.ofLanes(ofPort('lanes', postgresLaneStore(db, boss)))),
    files: observed('postgres', 'files', observation.ofFiles(ofPort('files', files))),
    sources: sourceStorage({
      db,
      sealer,
      shared,
      partnerEndpoint: config.INLET_PARTNER_S3_ENDPOINT ?? null,
      partnerNetworks: partnerNetworksOf(config),
      keysOfRole,
      observed: (name, objects) => observed('storage', name, objects),
    }),
    audiences,
    following,
    streamSeconds: config.INLET_STREAM_SECONDS,
    stage: observed('clickhouse', 'stage', ofPort('stage', clickhouseLoadStage(engine, config.INLET_ROOM_BYTES))),
    warehouse: observed('clickhouse', 'warehouse', ofPort('warehouse', clickhouseWarehouse(engine))),
    audienceWarehouse: observed(
      'clickhouse',
      'audienceWarehouse',
      ofPort('audienceWarehouse', clickhouseAudienceWarehouse(engine)),
    ),
    operations: ofPort('operations', postgresOperations(db, boss)),
    composition,
    close: async (): Promise<void> => {
      composition.computer.stop();
      await following.close();
      await observation.close();
      await boss.stop({ graceful: false });
      await db.destroy();
      await closeEngine(engine);
      s3.destroy();
    },
  };
}
