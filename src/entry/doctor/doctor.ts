import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { fetchKeySet } from '../../adapters/oidc/key-set.ts';
import { clickhouseRepairEngine } from '../../adapters/clickhouse/repair.ts';
import { findServersWithoutList } from '../../adapters/clickhouse/suppression-list.ts';
import { checkSealedRecords } from '../../adapters/postgres/sealed-records.ts';
import { postgresRepairRecords } from '../../adapters/postgres/repair.ts';
import { postgresSuppressionRecords } from '../../adapters/postgres/suppression-records.ts';
import { findMissingNotifications, findRemainingNotifications } from '../../adapters/ceph/bucket-notifications.ts';
import { findMissingRules } from '../../adapters/s3/bucket-settings.ts';
import { describeIdentity } from '../../adapters/s3/describe-identity.ts';
import { aesGcmSealer } from '../../adapters/vault/aes-gcm-sealer.ts';
import { Failure } from '../../domain/failure.ts';
import { type Config, readConfig } from '../config.ts';
import { checkLoadIds, checkTopology } from '../../usecases/admin/topology.ts';
import { withTopology } from '../connect-engine.ts';
import { issuerOf } from '../issuer.ts';
import { findLostCounts } from '../../usecases/admin/repair-rows.ts';
import {
  connectSharedStorage,
  consoleOriginOf,
  requireRecordedBucket,
  bucketOwnerOf,
  notificationUrlOf,
  sharedBucketKeys,
} from '../shared-bucket.ts';
import { hasRoleIdentity } from '../source-storage.ts';
import { createLogger } from '../logging.ts';

import { dataPlane, engineChecks } from './engine-checks.ts';
import { controlPlane, lanesCheck, postgresChecks } from './postgres-checks.ts';
import { type Check, type CheckResult, runChecks } from './run-checks.ts';

/** Checks every configured server. */
export function runDoctor(config: Config = readConfig()): Promise<CheckResult[]> {
  const checks = [
    ...postgresChecks(config),
    ...engineChecks(config),
    ...topologyChecks(config),
    identityCheck(config),
    ...storageChecks(config),
    ...issuerChecks(config),
  ];
  return runChecks([...checks, lanesCheck(config, checks)]);
}

/** Maximum number of loads whose counts `inlet doctor` reads. */
const checkedLoads = 200;

function topologyChecks(config: Config): Check[] {
  const withServers = <T>(run: Parameters<typeof withTopology<T>>[2]): Promise<T> =>
    withTopology(config, createLogger({ name: 'inlet-doctor', level: 'silent' }), run);
  const stores = [...controlPlane, ...dataPlane(config)];
  return [
    {
      name: 'Topology',
      needs: stores,
      remedy:
        'If a server is down, fix that first. Otherwise, fix INLET_CLICKHOUSE_URLS, INLET_CLICKHOUSE_CLUSTER, INLET_CLICKHOUSE_DATABASE, or the cluster definition on the shard. Loads and reports are stopped until then. If the cluster was changed on purpose, run `inlet topology change`.',
      run: () =>
        withServers(async (deps) => {
          const differences = await checkTopology(deps);
          if (differences.length > 0) throw new Error(differences.join(' '));
          const shards = await deps.topology.read();
          return `${shards.length} shards, as recorded`;
        }),
    },
    {
      name: 'Tables',
      needs: [...stores, 'Topology'],
      remedy:
        'Run `inlet migrate`. If a table, view, or column was changed by hand, restore it as in migrations/clickhouse/schema.sql. Loads and reports are stopped until then.',
      run: () =>
        withServers(async ({ engineTopology }) => {
          const differences = await engineTopology.findSchemaDifferences();
          if (differences.length > 0) throw new Error(differences.join(' '));
          return 'every shard has the tables of this release';
        }),
    },
    {
      name: 'Load IDs',
      needs: [...stores, 'Topology'],
      remedy: 'Loads and reports are paused until then. See docs/operators/incidents.md.',
      run: () =>
        withServers(async (deps) => {
          const differences = await checkLoadIds(deps);
          if (differences.length > 0) throw new Error(differences.join(' '));
          return 'no ID is assigned twice';
        }),
    },
    {
      name: 'Recent loads',
      needs: [...stores, 'Topology'],
      remedy:
        'The shard was restored from an older state, or it has lost rows. Run `inlet audit` and `inlet repair`. See docs/operators/incidents.md.',
      run: () =>
        withServers(async ({ db, engine }) => {
          const deps = { repairRecords: postgresRepairRecords(db), repairEngine: clickhouseRepairEngine(engine) };
          const lost = await findLostCounts(deps, checkedLoads);
          if (lost !== null)
            throw new Error(
              `ClickHouse has no counts of load ${lost.first}, which PostgreSQL has recorded as published`,
            );
          return 'ClickHouse has the counts of every published load';
        }),
    },
    {
      name: 'Suppression list',
      needs: [...stores, 'Topology'],
      remedy:
        'Run `inlet privacy suppress sync`. Until then, loads on this server wait, and counts can be too low. See docs/decisions/suppression.md.',
      run: () =>
        withServers(async ({ db, engine }) => {
          const list = await postgresSuppressionRecords(db).read();
          const missing = await findServersWithoutList(engine, list);
          if (missing.length > 0) throw new Error(`${missing.join('; ')}.`);
          return list.version === 0 ? 'no device was ever suppressed' : `every server has the ${list.hashes} hashes`;
        }),
    },
    {
      name: 'Sealing keys',
      needs: controlPlane,
      remedy:
        'Add the key to INLET_SEALING_KEYS, after the first key. Until then, these jobs wait, these webhooks get no events, and these deletions fail when they start. Never change the digits of a key.',
      run: () =>
        withServers(async ({ db }) => {
          const sealer = aesGcmSealer(config.INLET_SEALING_KEYS);
          const { records, unreadable, keyIds } = await checkSealedRecords(db, sealer);
          const [first] = unreadable;
          if (first) {
            const ids = Map.groupBy(unreadable, ({ kind }) => kind);
            const counts = [...ids].map(([kind, of]) => `${new Set(of.map(({ id }) => id)).size} ${kind}s`);
            throw new Error(
              `${counts.join(' and ')} cannot be decrypted. The sealing key "${first.keyId}" of ${first.kind} ${first.id} is not in INLET_SEALING_KEYS or has changed.`,
            );
          }
          if (keyIds.length === 0) return 'no sealed record is needed';
          return `${records} sealed records can be decrypted; keys in use: ${keyIds.join(', ')}`;
        }),
    },
  ];
}

function storageChecks(config: Config): Check[] {
  return [
    {
      name: 'Shared bucket',
      needs: ['Storage identity'],
      remedy:
        'Start the storage, or fix INLET_S3_ENDPOINT, INLET_S3_BUCKET, or the access key. Until then, loads wait, but records can still be read.',
      run: async () => {
        const s3 = connectSharedStorage(config);
        try {
          await s3.send(new ListObjectsV2Command({ Bucket: config.INLET_S3_BUCKET, MaxKeys: 1 }), {
            abortSignal: AbortSignal.timeout(4_000),
          });
          return `${config.INLET_S3_BUCKET} can be listed`;
        } finally {
          s3.destroy();
        }
      },
    },
    {
      name: 'Recorded bucket',
      needs: [...controlPlane, 'Shared bucket'],
      remedy:
        'Fix INLET_S3_BUCKET or INLET_S3_ENDPOINT. If the files were moved on purpose, also copy the object .inlet/bucket-id.',
      run: async () => {
        const s3 = connectSharedStorage(config);
        const silent = createLogger({ name: 'inlet-doctor', level: 'silent' });
        try {
          await withTopology(config, silent, ({ db }) => requireRecordedBucket(db, s3, config.INLET_S3_BUCKET));
          return 'the configured bucket is the recorded one, or none is recorded';
        } finally {
          s3.destroy();
        }
      },
    },
    {
      name: 'Uploads',
      // `inlet migrate` sets it up.
      needs: ['Shared bucket', ...controlPlane],
      remedy:
        'Run `inlet migrate` again. If the access key may not change the rules of the bucket, add them yourself: see docs/operators/incidents.md.',
      run: async () => {
        const s3 = connectSharedStorage(config);
        try {
          const missing = await findMissingRules(s3, config.INLET_S3_BUCKET, consoleOriginOf(config));
          if (missing.length > 0) throw new Error(`missing rules: ${missing.map(({ name }) => name).join(', ')}`);
          return 'the bucket has the rules for uploads';
        } finally {
          s3.destroy();
        }
      },
    },
    ...notificationChecks(config),
  ];
}

/** Returns no checks if Inlet does not change the notifications of the storage. */
function notificationChecks(config: Config): Check[] {
  const owner = bucketOwnerOf(config);
  const url = notificationUrlOf(config);
  if (!owner) return [];
  return [
    {
      name: 'Notifications',
      // `inlet migrate` sets it up.
      needs: ['Shared bucket', ...controlPlane],
      remedy: `Run \`inlet migrate\` again.${url ? ' Until then, subscriptions find new objects only when they list their prefixes.' : ''} See docs/operators/incidents.md.`,
      run: async () => {
        const s3 = connectSharedStorage(config);
        try {
          const problem = await (url
            ? findMissingNotifications(s3, owner, url)
            : findRemainingNotifications(s3, owner));
          if (problem !== null) throw new Error(problem);
          return url ? 'the storage sends a notification for every new object' : 'off';
        } finally {
          s3.destroy();
        }
      },
    },
  ];
}

/** Names the identity, so that an operator sees whether static keys are still in use. The secret is never shown. */
function identityCheck(config: Config): Check {
  return {
    name: 'Storage identity',
    needs: [],
    remedy:
      'Give the process an identity (IRSA, EKS Pod Identity, ECS, instance profile, or AWS_* variables), or set INLET_S3_ACCESS_KEY_ID and INLET_S3_SECRET_ACCESS_KEY. See docs/operators/aws.md. Until then, loads wait.',
    run: async () => {
      const roles = describeRoles(config);
      if (sharedBucketKeys(config)) return `access key ${config.INLET_S3_ACCESS_KEY_ID} from the settings; ${roles}`;
      const s3 = connectSharedStorage(config);
      try {
        return `${await describeIdentity(s3)}; ${roles}`;
      } finally {
        s3.destroy();
      }
    },
  };
}

function describeRoles(config: Config): string {
  const id = config.INLET_ROLE_ACCESS_KEY_ID;
  if (id !== undefined) return `roles of partners are assumed with access key ${id} from the settings`;
  return hasRoleIdentity(config)
    ? 'roles of partners are assumed with the same identity'
    : 'roles of partners cannot be assumed';
}

/** Shorter than the timeout of a check, so that the check reports the cause instead of a timeout. */
const fetchTimeoutMs = 4_000;

/** Returns no checks if no issuer is configured. */
function issuerChecks(config: Config): Check[] {
  const settings = issuerOf(config);
  if (!settings) return [];
  const { issuer, address, algorithms } = settings;
  return [
    {
      name: 'OpenID Connect issuer',
      needs: [],
      remedy:
        'Start the issuer, or fix INLET_OIDC_ISSUER, INLET_OIDC_NETWORKS, or INLET_OIDC_ALGORITHMS. Until then, its tokens are rejected. Tokens from `inlet user-token create` still work.',
      run: async () => {
        const { keys } = (await fetchKeySet(address, fetchTimeoutMs).catch(throwCause)).jwks();
        const usable = keys.filter(({ kid, use, alg }) => {
          return kid !== undefined && (use ?? 'sig') === 'sig' && (alg === undefined || algorithms.includes(alg));
        });
        if (usable.length === 0) throw new Error(`${issuer} has no usable key for ${algorithms.join(', ')}`);
        return `${usable.length} of ${keys.length} keys of ${issuer} can be used with ${algorithms.join(', ')}`;
      },
    },
  ];
}

/** Throws the cause of the failure, because the failure itself only reports that the issuer is unavailable. */
function throwCause(error: unknown): never {
  throw error instanceof Failure && error.cause instanceof Error ? error.cause : error;
}
