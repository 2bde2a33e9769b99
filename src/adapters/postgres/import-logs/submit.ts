import type { PgBoss } from 'pg-boss';
import { Failure } from '../../../domain/failure.ts';
import { logType, pathType } from '../../../domain/import-log.ts';
import { jobKind, type JobKind } from '../../../domain/job.ts';
import type { BucketCredentials } from '../../../domain/partner-bucket.ts';
import type { NewDelete, NewImport } from '../../../ports/import-log-store.ts';
import type { Sealer } from '../../../ports/sealer.ts';
import type { Database, Tx } from '../connect.ts';
import { sealCredentials } from '../credentials.ts';
import { sendLaneToken } from '../dispatch.ts';
import { appendJob } from '../lanes/append-job.ts';

type Deps = { readonly db: Database; readonly boss: PgBoss; readonly sealer: Sealer };

export async function submitImport(
  deps: Deps,
  partnerId: number,
  request: NewImport,
  maxOpenJobs: number,
): Promise<number> {
  return submit(deps, partnerId, jobKind.import, maxOpenJobs, async (tx, jobId) => {
    await tx
      .insertInto('import_log')
      .values({
        job_id: jobId,
        partner_id: partnerId,
        log_type: logType.import,
        file_path: request.filePath,
        path_type: request.pathType,
        key_type: request.keyType,
        compressed: request.compressed,
        mode: request.mode,
        keys: null,
        errors: null,
      })
      .execute();
    if (request.credentials) await insertCredentials(tx, deps.sealer, { jobId, partnerId }, request.credentials);
  });
}

export async function submitDelete(
  deps: Deps,
  partnerId: number,
  request: NewDelete,
  maxOpenJobs: number,
): Promise<number> {
  return submit(deps, partnerId, jobKind.delete, maxOpenJobs, async (tx, jobId) => {
    await tx
      .insertInto('import_log')
      .values({
        job_id: jobId,
        partner_id: partnerId,
        log_type: logType.delete,
        file_path: '',
        path_type: pathType.sharedBucket,
        key_type: request.keyType,
        keys: JSON.stringify(request.keys),
        attribute_ids: JSON.stringify(request.attributeIds),
        errors: null,
      })
      .execute();
  });
}

/** The job, its record and the lane's token: all or nothing. */
async function submit(
  { db, boss }: Deps,
  partnerId: number,
  kind: JobKind,
  maxOpenJobs: number,
  writeRecord: (tx: Tx, jobId: number) => Promise<void>,
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const job = await appendJob(tx, partnerId, kind);
    if (job.openJobs > maxOpenJobs) {
      throw new Failure(
        'too_many_open_jobs',
        `The partner has ${maxOpenJobs} open jobs, which is the most it may have.`,
      );
    }
    await writeRecord(tx, job.id);
    await sendLaneToken(boss, tx, partnerId);
    return job.id;
  });
}

async function insertCredentials(
  tx: Tx,
  sealer: Sealer,
  owner: { jobId: number; partnerId: number },
  credentials: BucketCredentials,
): Promise<void> {
  const { keyId, bytes } = sealCredentials(sealer, owner, credentials);
  await tx
    .insertInto('job_credential')
    .values({ job_id: owner.jobId, key_id: keyId, sealed: Buffer.from(bytes) })
    .execute();
}
