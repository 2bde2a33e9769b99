import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { run } from '../run.ts';
import type { State } from '../state.ts';
import { configFile, s3Endpoint } from './config.ts';

// The exit code of radosgw-admin is the errno. EEXIST is not an error here, because the keys never change.
const userExists = 17;

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

async function createUser(uid: string, keys: Keys, more: readonly string[]): Promise<void> {
  const options = ['--uid', uid, '--display-name', uid, ...more];
  const keyOptions = ['--access-key', keys.accessKeyId, '--secret-key', keys.secretAccessKey];
  await run('radosgw-admin', ['--conf', configFile, 'user', 'create', ...options, ...keyOptions], {
    acceptExitCodes: [userExists],
  });
}

function keysOf({ secrets }: State): { provider: Keys; admin: Keys } {
  return {
    provider: { accessKeyId: secrets.providerAccessKeyId, secretAccessKey: secrets.providerSecretAccessKey },
    admin: { accessKeyId: secrets.adminAccessKeyId, secretAccessKey: secrets.adminSecretAccessKey },
  };
}

/** "provider" owns the shared bucket. "inlet-admin" can create users and their policies over HTTP. */
export async function ensureUsers(state: State): Promise<void> {
  const { provider, admin } = keysOf(state);
  await Promise.all([
    createUser('provider', provider, []),
    createUser('inlet-admin', admin, ['--caps', 'users=*;buckets=*;user-policy=*']),
  ]);
}

async function canList(state: State, credentials: Keys): Promise<boolean> {
  const client = new S3Client({
    endpoint: s3Endpoint(state),
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
    maxAttempts: 1,
  });
  try {
    await client.send(new ListBucketsCommand({}), { abortSignal: AbortSignal.timeout(4000) });
    return true;
  } catch {
    return false;
  } finally {
    client.destroy();
  }
}

/** Lists buckets, which succeeds only if the gateway, the OSD, and the users all work. */
export async function canUsersList(state: State): Promise<boolean> {
  const { provider, admin } = keysOf(state);
  const answers = await Promise.all([canList(state, provider), canList(state, admin)]);
  return answers.every(Boolean);
}
