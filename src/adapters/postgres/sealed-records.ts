import { sql } from 'kysely';
import { openStatuses } from '../../domain/job.ts';
import type { Sealer } from '../../ports/crypto.ts';
import { credentialsContext } from './credentials.ts';
import type { Database } from './db/tables.ts';
import { sealedIdsContext } from './erasure-store.ts';
import { webhookSecretContext } from './webhook-secrets.ts';

/** Maximum number of records of each kind that `inlet doctor` decrypts. */
const checkedRecords = 1_000;

type SealedRecord = {
  readonly kind: 'job' | 'webhook' | 'deletion';
  readonly id: number;
  readonly keyId: string;
  readonly sealed: Uint8Array;
  readonly context: string;
};

export type SealedRecords = {
  readonly records: number;
  readonly unreadable: readonly Pick<SealedRecord, 'kind' | 'id' | 'keyId'>[];
  /** The IDs of all keys with which data that is still needed was sealed. */
  readonly keyIds: readonly string[];
};

/** Tries to decrypt the credentials of open jobs, the secrets of webhooks, and the device IDs of open deletions. */
export async function checkSealedRecords(db: Database, sealer: Sealer): Promise<SealedRecords> {
  const records = [...(await selectJobs(db)), ...(await selectWebhooks(db)), ...(await selectDeletions(db))];
  const unreadable = records.filter(({ keyId, sealed, context }) => {
    try {
      sealer.open({ keyId, bytes: sealed }, context);
      return false;
    } catch {
      return true;
    }
  });
  return { records: records.length, unreadable, keyIds: await selectKeyIds(db) };
}

async function selectKeyIds(db: Database): Promise<string[]> {
  const { rows } = await sql<{ key_id: string }>`
    SELECT key_id FROM job_credential
    UNION SELECT key_id FROM webhook_secret secret JOIN webhook ON webhook.id = secret.webhook_id
      WHERE webhook.deleted_at IS NULL
    UNION SELECT key_id FROM erasure WHERE status IN (${sql.join(openStatuses)}) AND key_id IS NOT NULL
    ORDER BY key_id`.execute(db);
  return rows.map(({ key_id }) => key_id);
}

async function selectJobs(db: Database): Promise<SealedRecord[]> {
  const rows = await db
    .selectFrom('job_credential')
    .innerJoin('job', 'job.id', 'job_credential.job_id')
    .select(['job_id', 'job.partner_id', 'key_id', 'sealed'])
    .orderBy('job_id')
    .limit(checkedRecords)
    .execute();
  return rows.map(({ job_id, partner_id, key_id, sealed }) => ({
    kind: 'job',
    id: job_id,
    keyId: key_id,
    sealed,
    context: credentialsContext({ jobId: job_id, partnerId: partner_id }),
  }));
}

async function selectWebhooks(db: Database): Promise<SealedRecord[]> {
  const rows = await db
    .selectFrom('webhook_secret')
    .innerJoin('webhook', 'webhook.id', 'webhook_secret.webhook_id')
    .select(['webhook_id', 'webhook.partner_id', 'key_id', 'sealed'])
    .where('webhook.deleted_at', 'is', null)
    .orderBy('webhook_secret.id')
    .limit(checkedRecords)
    .execute();
  return rows.map(({ webhook_id, partner_id, key_id, sealed }) => ({
    kind: 'webhook',
    id: webhook_id,
    keyId: key_id,
    sealed,
    context: webhookSecretContext({ webhookId: webhook_id, partnerId: partner_id }),
  }));
}

async function selectDeletions(db: Database): Promise<SealedRecord[]> {
  const rows = await db
    .selectFrom('erasure')
    .select(['id', 'partner_id', 'key_id', 'sealed', 'ids_digest'])
    .where('status', 'in', openStatuses)
    .where('sealed', 'is not', null)
    .orderBy('id')
    .limit(checkedRecords)
    .execute();
  return rows.flatMap(({ id, partner_id, key_id, sealed, ids_digest }) => {
    if (partner_id === null || key_id === null || sealed === null) return [];
    return { kind: 'deletion', id, keyId: key_id, sealed, context: sealedIdsContext(partner_id, ids_digest) };
  });
}
