import type { PgBoss } from 'pg-boss';
import { z } from 'zod';
import { logType, pathType } from '../../../domain/import-log.ts';
import { jobKind } from '../../../domain/job.ts';
import type { Once } from '../../../domain/once.ts';
import type { BucketCredentials } from '../../../domain/partner-bucket.ts';
import type { NewDelete, NewImport } from '../../../ports/import-log-store.ts';
import type { Sealer } from '../../../ports/sealer.ts';
import { selectAttributes } from '../attributes/select-attributes.ts';
import type { RequestRecords } from '../requests/request-records.ts';
import type { Database, Tx } from '../connect.ts';
import { sealCredentials } from '../credentials.ts';
import { submitJob } from '../lanes/submit-job.ts';
import { carryOutOnce } from '../requests/carry-out-once.ts';

type Deps = {
  readonly db: Database;
  readonly boss: PgBoss;
  readonly sealer: Sealer;
  readonly requests: RequestRecords;
};

const result = z.int();

export async function submitImport(
  deps: Deps,
  partnerId: number,
  request: NewImport,
  maxOpenJobs: number,
  once: Once | null,
): Promise<number> {
  return carryOutOnce(deps, { partnerId, once, result }, (tx) =>
    submitJob(deps.boss, tx, partnerId, { kind: jobKind.import, maxOpenJobs }, async (jobId) => {
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
      return jobId;
    }),
  );
}

export async function submitDelete(
  deps: Deps,
  partnerId: number,
  request: NewDelete,
  maxOpenJobs: number,
  once: Once | null,
): Promise<number> {
  return carryOutOnce(deps, { partnerId, once, result }, async (tx) => {
    const attributeIds = request.attributeIdsIn(await selectAttributes(tx, partnerId, { retired: true }));
    return submitJob(deps.boss, tx, partnerId, { kind: jobKind.delete, maxOpenJobs }, async (jobId) => {
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
          attribute_ids: JSON.stringify(attributeIds),
          errors: null,
        })
        .execute();
      return jobId;
    });
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
