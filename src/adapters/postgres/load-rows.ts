import { sql } from 'kysely';
import { versionsOfJob } from '../../domain/device-version.ts';
import { importMode, pathType } from '../../domain/import-log.ts';
import type { Load } from '../../ports/load-stage.ts';
import type { JobSource } from '../../ports/source-storage.ts';
import { toPathType } from './codes.ts';

/** What a load needs to know of its job: `j` the job, `l` its import log, `a` its audience load; one of the two. */
export const loadColumns = sql.raw(`
  j.id AS job_id, j.partner_id, j.seq, l.path_type, l.mode, coalesce(l.file_path, a.file_path) AS file_path,
  a.audience_id, a.generation`);

export type LoadRow = {
  job_id: number;
  partner_id: number;
  seq: number;
  load_id: number;
  path_type: number | null;
  mode: string | null;
  file_path: string;
  audience_id: number | null;
  generation: number | null;
};

type AudienceRow = { audience_id: number; generation: number };

export function isOfAudience<Row extends Pick<LoadRow, 'audience_id' | 'generation'>>(
  row: Row,
): row is Row & AudienceRow {
  return row.audience_id !== null && row.generation !== null;
}

export function toLoad(row: LoadRow, bytes: number): Load {
  return {
    loadId: row.load_id,
    jobId: row.job_id,
    partnerId: row.partner_id,
    bytes,
    target: isOfAudience(row)
      ? { kind: 'audience', audienceId: row.audience_id, generation: row.generation }
      : { kind: 'attributes', versions: versionsOfJob(row.seq), isReplacing: row.mode === importMode.replace },
  };
}

/** Audiences are loaded from the shared bucket only. */
export function toSource(row: Omit<LoadRow, 'load_id' | 'seq' | 'mode'>): JobSource {
  return {
    jobId: row.job_id,
    partnerId: row.partner_id,
    pathType: row.path_type === null ? pathType.sharedBucket : toPathType(row.path_type),
    filePath: row.file_path,
  };
}
