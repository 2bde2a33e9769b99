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
function contextOf({ jobId, partnerId }: Owner): string {
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
  return sealer.seal(text, contextOf(owner));
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
    return sealer.open(sealed, contextOf(owner));
  } catch (error) {
    const detail = `The sealing key "${sealed.keyId}" of job ${owner.jobId} is not in INLET_SEALING_KEYS or has changed.`;
    throw new Failure('credentials_unreadable', detail, { cause: error });
  }
}

/** Maximum number of jobs whose credentials `inlet doctor` decrypts. */
const checkedJobs = 1_000;

/** Tries to decrypt the credentials of open jobs. Returns the number of jobs and the failures. */
export async function checkCredentials(
  db: Database,
  sealer: Sealer,
): Promise<{ readonly jobs: number; readonly failures: readonly Failure[] }> {
  const rows = await db
    .selectFrom('job_credential')
    .innerJoin('job', 'job.id', 'job_credential.job_id')
    .select(['job_id', 'job.partner_id', 'key_id', 'sealed'])
    .orderBy('job_id')
    .limit(checkedJobs)
    .execute();
  const failures = rows.flatMap(({ job_id, partner_id, key_id, sealed }) => {
    try {
      unseal(sealer, { keyId: key_id, bytes: sealed }, { jobId: job_id, partnerId: partner_id });
      return [];
    } catch (error) {
      if (error instanceof Failure) return [error];
      throw error;
    }
  });
  return { jobs: rows.length, failures };
}
