import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { fetchKeySet } from '../../adapters/oidc/key-set.ts';
import { connectS3 } from '../../adapters/s3/connect.ts';
import { Failure } from '../../domain/failure.ts';
import { type Config, readConfig } from '../config.ts';
import { issuerOf } from '../issuer.ts';
import { engineChecks } from './engine-checks.ts';
import { postgresChecks } from './postgres-checks.ts';
import { type Check, type CheckResult, runChecks } from './run-checks.ts';

/** Asks every server that the configuration names. */
export function runDoctor(): Promise<CheckResult[]> {
  const config = readConfig();
  return runChecks([postgresChecks(config), ...engineChecks(config), storageChecks(config), issuerChecks(config)]);
}

function storageChecks(config: Config): Check[] {
  return [
    {
      name: 'Shared bucket',
      remedy:
        'Start the storage, or mend INLET_S3_ENDPOINT, INLET_S3_BUCKET and its access key. Loads wait; records can be read.',
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

/** Less than a check may take, so that it is told what took so long. */
const mostMilliseconds = 4_000;

/** Nothing where no issuer is configured. */
function issuerChecks(config: Config): Check[] {
  const settings = issuerOf(config);
  if (!settings) return [];
  const { issuer, address, algorithms } = settings;
  return [
    {
      name: 'Issuer of user tokens',
      remedy:
        'Start the issuer, or mend INLET_OIDC_ISSUER, INLET_OIDC_NETWORKS and INLET_OIDC_ALGORITHMS. Its tokens are refused; those that `inlet user-token create` made are not.',
      run: async () => {
        const { keys } = (await fetchKeySet(address, mostMilliseconds).catch(throwCause)).jwks();
        const usable = keys.filter(({ kid, use, alg }) => {
          return kid !== undefined && (use ?? 'sig') === 'sig' && (alg === undefined || algorithms.includes(alg));
        });
        if (usable.length === 0) throw new Error(`${issuer} has no key for ${algorithms.join(', ')}`);
        return `${issuer} has ${usable.length} of ${keys.length} keys for ${algorithms.join(', ')}`;
      },
    },
  ];
}

/** The failure says that the issuer cannot be asked; its cause says why. */
function throwCause(error: unknown): never {
  throw error instanceof Failure && error.cause instanceof Error ? error.cause : error;
}
