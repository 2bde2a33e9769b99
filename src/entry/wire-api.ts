import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { clickhouseOverlapCounter } from '../adapters/clickhouse/index/overlap-counter.ts';
import { type Engine, onEveryShard } from '../adapters/clickhouse/connect.ts';
import type { Dependency } from '../adapters/http/routes/health.ts';
import { postgresApiKeyStore } from '../adapters/postgres/api-key-store.ts';
import { postgresAuditLog } from '../adapters/postgres/audit-log.ts';
import { postgresChangeFeeds } from '../adapters/postgres/change-feed.ts';
import { postgresCompositionStore } from '../adapters/postgres/composition-store.ts';
import { postgresCustomerStore } from '../adapters/postgres/customer-store.ts';
import { postgresErasureStore } from '../adapters/postgres/erasure-store.ts';
import { postgresEventLog } from '../adapters/postgres/event-log.ts';
import { postgresOwnAttributes } from '../adapters/postgres/own-access/own-attributes.ts';
import { postgresOwnCustomers } from '../adapters/postgres/own-access/own-customers.ts';
import { postgresOwnKeys } from '../adapters/postgres/own-access/own-keys.ts';
import { asCaller } from '../adapters/postgres/db/row-security.ts';
import { postgresOverlapStore } from '../adapters/postgres/overlap-store.ts';
import { postgresBudgetStore } from '../adapters/postgres/report-budget.ts';
import { postgresRejectExports } from '../adapters/postgres/reject-exports.ts';
import { postgresRequestWindows } from '../adapters/postgres/request-windows.ts';
import { s3ObjectStore } from '../adapters/s3/object-store.ts';
import { readSample } from '../adapters/s3/read-sample.ts';
import { s3RejectStorage } from '../adapters/s3/reject-storage.ts';
import { postgresUploadLog } from '../adapters/postgres/upload-log.ts';
import { postgresSubscriptionStore } from '../adapters/postgres/subscriptions/subscription-store.ts';
import { postgresWebhookStore } from '../adapters/postgres/webhook-store.ts';
import { s3UploadStorage } from '../adapters/s3/upload-storage.ts';
import { aesGcmSealer } from '../adapters/vault/aes-gcm-sealer.ts';
import { randomKeys, requestFingerprint } from '../adapters/vault/keys.ts';
import { randomWebhookSecrets } from '../adapters/vault/webhook-secrets.ts';
import { sealedUploadTickets } from '../adapters/vault/upload-tickets.ts';
import { accessRecorder } from '../usecases/access/record-access.ts';
import { type RetryOnChange, retryOnChange } from '../usecases/follow/retry-on-change.ts';
import { roundedAudiences } from '../usecases/follow/read-audiences.ts';
import { followedRecords } from '../usecases/follow/followed-records.ts';
import type { RequireTopology } from '../usecases/admin/topology.ts';
import type { CompositionDeps } from '../usecases/report/get-composition.ts';
import type { OverlapDeps } from '../usecases/report/get-overlap.ts';
import { type Config, limitsOf, partnerNetworksOf } from './config.ts';
import { type ConnectedEngine, connectShards } from './connect-engine.ts';
import { consoleOf } from './console.ts';
import { httpLimitsOf, requestLimitsOf } from './http-settings.ts';
import { issuedTokensOf } from './issuer.ts';
import { publishingOf } from './report-settings.ts';
import { publicBucketOf } from './shared-bucket.ts';
import { dryRunStorage, hasRoleIdentity, partnerRoleKeys } from './source-storage.ts';
import { operatorReads } from './operator-reads.ts';
import { webhookAddressesOf } from './webhook-settings.ts';
import { type Connections, connectServers, sharedStores } from './wire-shared.ts';

/** Shorter than the request timeout of 30 s, so that the caller gets a response. */
const reportTimeoutMs = 20_000;

/** Creates the dependencies of the api process. */
export async function wireApi(config: Config, log: Logger) {
  const connections = await connectServers(config, { name: 'inlet-api', boss: 'send', rows: 'of the caller' }, log);
  const connected = connectShards(connections);
  const deps = apiDeps(connections, connected);
  return {
    ...deps,
    observability: connections.observability,
    close: async (): Promise<void> => {
      await deps.closeRecords();
      await deps.closeOperator();
      await connections.close();
      await connected.closeEngine();
    },
  };
}

export function apiDeps(connections: Connections, connected: ConnectedEngine) {
  const { engine, stage, requireTopology } = connected;
  const { config, name, log, postgresUrl, db, s3, observability } = connections;
  const { instrumentPort } = observability;
  const stores = sharedStores(connections);
  const { importLogs } = stores;
  const audiences = roundedAudiences(stores.audiences, config.INLET_MATCHED_UNIT);
  const keys = instrumentPort('postgres', 'keys', postgresApiKeyStore(db));
  const audit = instrumentPort('postgres', 'audit', postgresAuditLog(db));
  const { feedOf, close: closeFeeds } = postgresChangeFeeds({ url: postgresUrl, name: `${name}-changes`, log }, [
    'records',
    'events',
    'finishedReports',
  ]);
  const followerLimits = { ofProcess: config.INLET_MAX_FOLLOWERS, ofPartner: config.INLET_MAX_FOLLOWERS_PER_PARTNER };
  const reports = reportDeps(connections, engine, requireTopology, retryOnChange(feedOf('finishedReports')));
  const consoleDeps = consoleOf(connections);
  const own = { db, requests: stores.requests };
  const operators = consoleDeps && operatorReads(connections, connected);
  return {
    ...stores,
    audiences,
    db,
    asCaller,
    operator: operators?.operator ?? null,
    closeOperator: async () => operators?.close(),
    stage,
    keys,
    audit,
    access: accessRecorder({ keys, audit, log }),
    instrumentRequests: observability.instrumentRequests,
    dependencies: dependenciesOf(connections, engine, requireTopology),
    limits: limitsOf(config),
    requestLimits: requestLimitsOf(config),
    httpLimits: httpLimitsOf(config),
    requestWindows: instrumentPort('postgres', 'requestWindows', postgresRequestWindows(db)),
    issuedTokens: issuedTokensOf(config, log, (port) => instrumentPort('issuer', 'issuer', port)),
    apiKeys: randomKeys('apiKey', config.INLET_ENVIRONMENT),
    userTokens: randomKeys('userToken', config.INLET_ENVIRONMENT),
    canAssumeRoles: hasRoleIdentity(config),
    console: consoleDeps,
    customers: instrumentPort('postgres', 'customers', postgresCustomerStore(db)),
    ownAttributes: instrumentPort('postgres', 'ownAttributes', postgresOwnAttributes(own, stores.quotas)),
    ownKeys: instrumentPort('postgres', 'ownKeys', postgresOwnKeys(own)),
    ownCustomers: instrumentPort('postgres', 'ownCustomers', postgresOwnCustomers(own)),
    fingerprint: requestFingerprint(config.INLET_SEALING_KEYS),
    following: followedRecords({
      importLogs,
      audiences,
      feed: feedOf('records'),
      eventFeed: feedOf('events'),
      asCaller,
      limits: followerLimits,
      log,
    }),
    followerLimits,
    streamSeconds: config.INLET_STREAM_SECONDS,
    uploads: instrumentPort('storage', 'uploads', s3UploadStorage(s3, publicBucketOf(config))),
    uploadLog: instrumentPort('postgres', 'uploadLog', postgresUploadLog(db)),
    dryRunStorage: dryRunStorage({
      shared: s3ObjectStore(s3, config.INLET_S3_BUCKET),
      partnerEndpoint: config.INLET_PARTNER_S3_ENDPOINT ?? null,
      partnerNetworks: partnerNetworksOf(config),
      keysOfRole: partnerRoleKeys(config, s3, stores.partners),
      instrument: (bucket, objects) => instrumentPort('storage', bucket, objects),
    }),
    readSample,
    erasures: instrumentPort(
      'postgres',
      'erasures',
      postgresErasureStore({ db, sealer: aesGcmSealer(config.INLET_SEALING_KEYS), requests: stores.requests }),
    ),
    rejects: instrumentPort('postgres', 'rejects', postgresRejectExports(db, aesGcmSealer(config.INLET_SEALING_KEYS))),
    rejectStorage: instrumentPort('storage', 'rejectStorage', s3RejectStorage(s3, publicBucketOf(config))),
    uploadTickets: sealedUploadTickets(aesGcmSealer(config.INLET_SEALING_KEYS)),
    ...reports,
    budget: reports.composition.budget,
    events: instrumentPort('postgres', 'events', postgresEventLog(db)),
    reportLimits: reports.composition.reportLimits,
    webhooks: instrumentPort(
      'postgres',
      'webhooks',
      postgresWebhookStore({ db, sealer: aesGcmSealer(config.INLET_SEALING_KEYS), ...stores }),
    ),
    subscriptions: instrumentPort(
      'postgres',
      'subscriptions',
      postgresSubscriptionStore({ db, requests: stores.requests, quotas: stores.quotas }),
    ),
    webhookSecrets: randomWebhookSecrets,
    webhookAddresses: webhookAddressesOf(config),
    webhookTimeScale: config.INLET_WEBHOOK_TIME_SCALE,
    /** Stops following records. Call this function before the connections close. */
    closeRecords: closeFeeds,
  };
}

function reportDeps(
  { config, db, observability }: Connections,
  engine: Engine,
  requireTopology: RequireTopology,
  retry: RetryOnChange,
): { readonly composition: CompositionDeps; readonly overlap: OverlapDeps } {
  const { instrumentPort } = observability;
  const common = {
    ...publishingOf(config),
    budget: instrumentPort('postgres', 'budget', postgresBudgetStore(db)),
    requireTopology,
    timeoutMs: reportTimeoutMs,
  };
  return {
    composition: {
      ...common,
      retryOnChange: retry,
      compositions: instrumentPort('postgres', 'compositions', postgresCompositionStore(db)),
    },
    overlap: {
      ...common,
      overlaps: instrumentPort('postgres', 'overlaps', postgresOverlapStore(db)),
      overlapCounter: instrumentPort('clickhouse', 'overlapCounter', clickhouseOverlapCounter(engine)),
    },
  };
}

function dependenciesOf(
  { config, db, s3 }: Connections,
  engine: Engine,
  requireTopology: RequireTopology,
): Dependency[] {
  return [
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
    { name: 'topology', isNeededByRequests: false, check: requireTopology },
    {
      name: 'bucket',
      isNeededByRequests: false,
      check: async (abortSignal) =>
        void (await s3.send(new HeadBucketCommand({ Bucket: config.INLET_S3_BUCKET }), { abortSignal })),
    },
  ];
}
