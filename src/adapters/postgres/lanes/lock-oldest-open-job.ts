import { jobKind, openStatuses } from '../../../domain/job.ts';
import type { LaneJob } from '../../../ports/lane-store.ts';
import { toImportMode, toJobKind, toKeyType } from '../codes.ts';
import type { Tx } from '../connect.ts';
import { isOfAudience, toSource } from '../load-rows.ts';

export async function lockOldestOpenJob(
  tx: Tx,
  partnerId: number,
  prefix: string,
): Promise<{ job: LaneJob; isStarted: boolean; isCancelled: boolean } | null> {
  const row = await tx
    .selectFrom('job')
    .leftJoin('import_log as log', 'log.job_id', 'job.id')
    .leftJoin('audience_load as load', 'load.job_id', 'job.id')
    .select(['job.id', 'job.kind', 'job.seq', 'job.listed_at', 'job.cancelled'])
    .select(['log.file_path as import_path', 'log.path_type', 'log.key_type', 'log.compressed', 'log.mode'])
    .select(['log.attribute_ids', 'load.audience_id', 'load.generation', 'load.file_path as audience_path'])
    .where('job.partner_id', '=', partnerId)
    .where('job.status', 'in', openStatuses)
    .orderBy('job.seq')
    .limit(1)
    .forUpdate('job')
    .executeTakeFirst();
  if (!row) return null;
  const state = { isStarted: row.listed_at !== null, isCancelled: row.cancelled };
  const kind = toJobKind(row.kind);
  const base = { id: row.id, partnerId, seq: row.seq };
  if (kind === jobKind.delete) return { ...state, job: { ...base, kind, attributeIds: row.attribute_ids ?? [] } };
  const filePath = row.import_path ?? row.audience_path ?? '';
  const source = toSource({ ...row, job_id: row.id, partner_id: partnerId, file_path: filePath });
  if (kind === jobKind.audience) {
    if (!isOfAudience(row)) throw new Error(`job ${row.id} has no audience`);
    const { audience_id: audienceId, generation } = row;
    return { ...state, job: { ...base, kind, source, prefix, audienceId, generation } };
  }
  return {
    ...state,
    job: {
      ...base,
      kind,
      source,
      prefix,
      keyType: toKeyType(row.key_type ?? -1),
      compressed: row.compressed,
      mode: toImportMode(row.mode ?? ''),
    },
  };
}
