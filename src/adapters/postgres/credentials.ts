import type { JobId, PartnerId } from '../../domain/ids.ts';
import { z } from 'zod';
import { type BucketCredentials, isRole } from '../../domain/partner-bucket.ts';
import { Secret } from '../../domain/secret.ts';
import type { Sealed, Sealer } from '../../ports/crypto.ts';
import type { Database } from './db/tables.ts';

type Owner = { readonly jobId: JobId; readonly partnerId: PartnerId };

const keysSchema = z.object({ accessKeyId: z.string(), secretAccessKey: z.string(), region: z.string() });
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
    : { ...credentials, secretAccessKey: credentials.secretAccessKey.reveal() };
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
  const opened = schema.parse(JSON.parse(sealer.open({ keyId: row.key_id, bytes: row.sealed }, contextOf(owner))));
  return 'roleArn' in opened ? opened : { ...opened, secretAccessKey: new Secret(opened.secretAccessKey) };
}
