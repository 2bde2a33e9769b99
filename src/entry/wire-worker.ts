import type { Logger } from 'pino';
import { clickhouseAudienceWarehouse } from '../adapters/clickhouse/audience-warehouse.ts';
import { clickhouseErasure } from '../adapters/clickhouse/erasure/erasure-engine.ts';
import { clickhouseAudienceProfiler } from '../adapters/clickhouse/index/audience-profiler.ts';
import { clickhouseDeviceIndex } from '../adapters/clickhouse/index/device-index.ts';
import { clickhouseKnownDevicesRebuild } from '../adapters/clickhouse/known-devices.ts';
import { clickhouseRejectReader } from '../adapters/clickhouse/reject-reader.ts';
import { clickhouseUnseenRows } from '../adapters/clickhouse/unseen-rows.ts';
import { clickhouseWarehouse } from '../adapters/clickhouse/warehouse.ts';
import { postgresChangeFeeds } from '../adapters/postgres/change-feed.ts';
import { postgresDeviceRetention } from '../adapters/postgres/device-retention.ts';
import { postgresErasureIndex, postgresErasureQueue } from '../adapters/postgres/erasure-queue.ts';
import { postgresEventLog } from '../adapters/postgres/event-log.ts';
import { postgresIndexStore } from '../adapters/postgres/index-store.ts';
import { postgresKnownDevicesStore } from '../adapters/postgres/known-devices-store.ts';
import { postgresFileStore } from '../adapters/postgres/file-store.ts';
import { postgresLaneStore } from '../adapters/postgres/lane/lane-store.ts';
import { postgresBudgetStore } from '../adapters/postgres/report-budget.ts';
import { postgresReportQueue } from '../adapters/postgres/report-queue.ts';
import { postgresRejectQueue } from '../adapters/postgres/reject-queue.ts';
import { postgresRetentionStore } from '../adapters/postgres/retention-store.ts';
import { postgresRequestWindows } from '../adapters/postgres/request-windows.ts';
import { postgresUploadSweep } from '../adapters/postgres/upload-log.ts';
import { postgresSubscriptionQueue } from '../adapters/postgres/subscriptions/subscription-queue.ts';
import { postgresWebhookQueue } from '../adapters/postgres/webhook-queue.ts';
import { s3ObjectStore } from '../adapters/s3/object-store.ts';
import { s3ObjectListing } from '../adapters/s3/object-listing.ts';
import { s3RejectStorage } from '../adapters/s3/reject-storage.ts';
import { s3UploadStorage } from '../adapters/s3/upload-storage.ts';
import { aesGcmSealer } from '../adapters/vault/aes-gcm-sealer.ts';
import { ed25519ProofSigner } from '../adapters/vault/proof-signer.ts';
import { httpWebhookSender } from '../adapters/webhook/sender.ts';
import { isOutage } from '../adapters/transient-errors.ts';
import { type Config, limitsOf, partnerNetworksOf, retentionOf } from './config.ts';
import { type ConnectedEngine, connectShards } from './connect-engine.ts';
import { publishingOf } from './report-settings.ts';
import { bucketGuard, publicBucketOf } from './shared-bucket.ts';
import { partnerRoleKeys, sourceStorage } from './source-storage.ts';
import { subscribingOf } from './subscription-settings.ts';
import { deliverySettingsOf, webhookAddressesOf } from './webhook-settings.ts';
import { type Connections, connectServers, sharedStores } from './wire-shared.ts';

/** Creates the dependencies of the worker process. */
export async function wireWorker(config: Config, log: Logger) {
  const connections = await connectServers(config, { name: 'inlet-worker', boss: 'work' }, log);
  const connected = connectShards(connections);
  const { feedOf, close: closeFeeds } = postgresChangeFeeds(
    { url: connections.postgresUrl, name: `${connections.name}-changes`, log },
    ['requestedReports', 'events'],
  );
  const webhookSender = httpWebhookSender(webhookAddressesOf(config), config.INLET_WEBHOOK_TIMEOUT_SECONDS * 1000);
  return {
    ...workerDeps(connections, connected),
    webhookSender,
    delivery: deliverySettingsOf(config),
    recordAttempt: connections.observability.recordWebhookAttempt,
    recordListing: connections.observability.recordListing,
    requestedReports: feedOf('requestedReports'),
    newEvents: feedOf('events'),
    observability: connections.observability,
    failpoints: connections.failpoints,
    close: async (): Promise<void> => {
      await closeFeeds();
      webhookSender.close();
      await connections.close();
      await connected.closeEngine();
    },
  };
}

export function workerDeps(connections: Connections, { engine, stage, requireTopology }: ConnectedEngine) {
  const { config, db, boss, s3, observability, failpoints } = connections;
  const { instrumentPort } = observability;
  const { wrapPort } = failpoints;
  const stores = sharedStores(connections);
  const topologyMs = config.INLET_TOPOLOGY_SECONDS * 1000;
  const files = postgresFileStore(db, boss, config.INLET_FILES_OUT_PER_LANE);
  return {
    ...stores,
    db,
    boss,
    stage,
    requireTopology,
    trace: observability.trace,
    recordRetry: observability.recordRetry,
    limits: limitsOf(config),
    retention: retentionOf(config),
    retentionStore: instrumentPort('postgres', 'retentionStore', postgresRetentionStore(db)),
    uploadSweep: instrumentPort('postgres', 'uploadSweep', postgresUploadSweep(db)),
    uploads: instrumentPort('storage', 'uploads', s3UploadStorage(s3, publicBucketOf(config))),
    requestWindows: instrumentPort('postgres', 'requestWindows', postgresRequestWindows(db)),
    lanes: instrumentPort(
      'postgres',
      'lanes',
      observability.instrumentLanes(wrapPort('lanes', postgresLaneStore(db, boss))),
    ),
    files: instrumentPort('postgres', 'files', observability.instrumentFiles(wrapPort('files', files))),
    sources: sourceStorage({
      db,
      sealer: aesGcmSealer(config.INLET_SEALING_KEYS),
      shared: s3ObjectStore(s3, config.INLET_S3_BUCKET),
      requireBucket: bucketGuard(db, s3, config.INLET_S3_BUCKET, topologyMs),
      partnerEndpoint: config.INLET_PARTNER_S3_ENDPOINT ?? null,
      partnerNetworks: partnerNetworksOf(config),
      keysOfRole: partnerRoleKeys(config, s3, stores.partners),
      instrument: (name, objects) => instrumentPort('storage', name, objects),
    }),
    rejectQueue: instrumentPort('postgres', 'rejectQueue', wrapPort('rejectQueue', postgresRejectQueue(db))),
    rejectReader: instrumentPort('clickhouse', 'rejectReader', clickhouseRejectReader(engine)),
    rejectStorage: instrumentPort('storage', 'rejectStorage', s3RejectStorage(s3, publicBucketOf(config))),
    isUnavailable: isOutage,
    warehouse: instrumentPort('clickhouse', 'warehouse', wrapPort('warehouse', clickhouseWarehouse(engine))),
    index: instrumentPort('clickhouse', 'index', wrapPort('index', clickhouseDeviceIndex(engine))),
    knownDevices: instrumentPort(
      'clickhouse',
      'knownDevices',
      wrapPort('knownDevices', clickhouseKnownDevicesRebuild(engine)),
    ),
    // Not instrumented, because a rebuild runs within a call.
    knownDevicesStore: postgresKnownDevicesStore(db, connections.postgresUrl),
    erasureQueue: instrumentPort(
      'postgres',
      'erasureQueue',
      wrapPort('erasureQueue', postgresErasureQueue(db, aesGcmSealer(config.INLET_SEALING_KEYS))),
    ),
    erasureEngine: instrumentPort('clickhouse', 'erasureEngine', wrapPort('erasureEngine', clickhouseErasure(engine))),
    erasureIndex: instrumentPort('postgres', 'erasureIndex', wrapPort('erasureIndex', postgresErasureIndex(db))),
    deviceRetention: instrumentPort(
      'postgres',
      'deviceRetention',
      wrapPort('deviceRetention', postgresDeviceRetention(db)),
    ),
    unseenRows: instrumentPort('clickhouse', 'unseenRows', wrapPort('unseenRows', clickhouseUnseenRows(engine))),
    proofSigner: ed25519ProofSigner(config.INLET_PROOF_KEY),
    ...publishingOf(config),
    profiler: instrumentPort('clickhouse', 'profiler', clickhouseAudienceProfiler(engine)),
    events: instrumentPort('postgres', 'events', postgresEventLog(db)),
    subscriptionQueue: instrumentPort(
      'postgres',
      'subscriptionQueue',
      wrapPort('subscriptionQueue', postgresSubscriptionQueue({ db, boss, quotas: stores.quotas })),
    ),
    objectListing: instrumentPort(
      'storage',
      'objectListing',
      s3ObjectListing(s3, config.INLET_S3_BUCKET, bucketGuard(db, s3, config.INLET_S3_BUCKET, topologyMs)),
    ),
    subscribing: subscribingOf(config),
    webhookQueue: instrumentPort(
      'postgres',
      'webhookQueue',
      postgresWebhookQueue(db, aesGcmSealer(config.INLET_SEALING_KEYS)),
    ),
    reports: instrumentPort('postgres', 'reports', postgresReportQueue(db)),
    budget: instrumentPort('postgres', 'budget', postgresBudgetStore(db)),
    indexStore: instrumentPort('postgres', 'indexStore', wrapPort('indexStore', postgresIndexStore(db))),
    audienceWarehouse: instrumentPort(
      'clickhouse',
      'audienceWarehouse',
      wrapPort('audienceWarehouse', clickhouseAudienceWarehouse(engine)),
    ),
  };
}
