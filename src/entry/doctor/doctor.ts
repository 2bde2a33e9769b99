import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { fetchKeySet } from '../../adapters/oidc/key-set.ts';
import { connectS3 } from '../../adapters/s3/connect.ts';
import { Failure } from '../../domain/failure.ts';
import { type Config, readConfig } from '../config.ts';
import { checkTopology } from '../../usecases/admin/topology.ts';
import { withTopology } from '../connect-engine.ts';
import { issuerOf } from '../issuer.ts';
import { createLogger } from '../logging.ts';

import { engineChecks } from './engine-checks.ts';
import { postgresChecks } from './postgres-checks.ts';
import { type Check, type CheckResult, runChecks } from './run-checks.ts';

/** Checks every configured server. */
export function runDoctor(): Promise<CheckResult[]> {
  const config = readConfig();
  return runChecks([
    postgresChecks(config),
    ...engineChecks(config),
    topologyChecks(config),
    storageChecks(config),
    issuerChecks(config),
  ]);
}

function topologyChecks(config: Config): Check[] {
  return [
    {
      name: 'Topology',
      remedy:
        'If a server is down, fix that first. Otherwise, fix INLET_CLICKHOUSE_URLS, INLET_CLICKHOUSE_CLUSTER, INLET_CLICKHOUSE_DATABASE, or the cluster definition on the shard. Loads and reports are stopped until then. If the cluster was changed on purpose, run `inlet topology change`.',
      run: () =>
        withTopology(config, createLogger({ name: 'inlet-doctor', level: 'silent' }), async (deps) => {
          const differences = await checkTopology(deps);
          if (differences.length > 0) throw new Error(differences.join(' '));
          const shards = await deps.topology.read();
          return `${shards.length} shards, as recorded`;
        }),
    },
  ];
}

function storageChecks(config: Config): Check[] {
  return [
    {
      name: 'Shared bucket',
      remedy:
        'Start the storage, or fix INLET_S3_ENDPOINT, INLET_S3_BUCKET, or the access key. Until then, loads wait, but records can still be read.',
      run: async () => {
        const s3 = connectS3({
          endpoint: config.INLET_S3_ENDPOINT ?? null,
          region: config.INLET_S3_REGION,
          accessKeyId: config.INLET_S3_ACCESS_KEY_ID,
          secretAccessKey: config.INLET_S3_SECRET_ACCESS_KEY,
        });
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
  ];
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
