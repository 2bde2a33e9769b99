import type { JobId, PartnerId } from '../../domain/ids.ts';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { type BucketCredentials, isRole } from '../../domain/partner-bucket.ts';
import { Secret } from '../../domain/secret.ts';
import type { Sealed, Sealer } from '../../ports/crypto.ts';
import type { Database } from './db/tables.ts';

type Owner = { readonly jobId: JobId; readonly partnerId: PartnerId };

const keysSchema = z.object({
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  sessionToken: z.string().optional(),
  region: z.string(),
});
const roleSchema = z.object({ roleArn: z.string(), region: z.string() });
const schema = z.union([keysSchema, roleSchema]);

/**
 * Returns the context that binds the ciphertext to one job of one partner. A copy in another row cannot be decrypted.
 */
export function credentialsContext({ jobId, partnerId }: Owner): string {
  return `partner ${partnerId} job ${jobId}`;
}

export function sealCredentials(sealer: Sealer, owner: Owner, credentials: BucketCredentials): Sealed {
  const plain = isRole(credentials)
    ? credentials
    : {
        ...credentials,
        secretAccessKey: credentials.secretAccessKey.reveal(),
        ...(credentials.sessionToken && { sessionToken: credentials.sessionToken.reveal() }),
      };
  const text = JSON.stringify(plain);
  return sealer.seal(text, credentialsContext(owner));
}

/** Returns the credentials of an open job, or null if the job has none. */
export async function openCredentials(db: Database, sealer: Sealer, owner: Owner): Promise<BucketCredentials | null> {
  const row = await db
    .selectFrom('job_credential')
    .innerJoin('job', 'job.id', 'job_credential.job_id')
    .select(['key_id', 'sealed'])
    .where('job_id', '=', owner.jobId)
    .where('job.partner_id', '=', owner.partnerId)
    .executeTakeFirst();
  if (!row) return null;
  const opened = schema.parse(JSON.parse(unseal(sealer, { keyId: row.key_id, bytes: row.sealed }, owner)));
  if ('roleArn' in opened) return opened;
  const { sessionToken, ...keys } = opened;
  return {
    ...keys,
    secretAccessKey: new Secret(keys.secretAccessKey),
    ...(sessionToken !== undefined && { sessionToken: new Secret(sessionToken) }),
  };
}

function unseal(sealer: Sealer, sealed: Sealed, owner: Owner): string {
  try {
    return sealer.open(sealed, credentialsContext(owner));
  } catch (error) {
    const detail = `The sealing key "${sealed.keyId}" of job ${owner.jobId} is not in INLET_SEALING_KEYS or has changed.`;
    throw new Failure('credentials_unreadable', detail, { cause: error });
  }
}
