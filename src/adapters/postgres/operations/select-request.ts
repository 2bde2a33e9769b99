import { sql } from 'kysely';
import { jobKind } from '../../../domain/job.ts';
import type { AskedFor, JobRequest } from '../../../ports/operations.ts';
import { toImportMode, toJobKind, toJobStatus, toKeyType, toPathType } from '../codes.ts';
import type { Database } from '../connect.ts';

type Row = {
  status: number;
  kind: string;
  partner_id: number;
  name: string;
  prefix: string;
  import_path: string | null;
  path_type: number | null;
  key_type: number | null;
  compressed: boolean | null;
  mode: string | null;
  audience_path: string | null;
  audience_id: number | null;
  customer_id: number | null;
  is_cleared: boolean | null;
};

/** What a job was asked for with, of whichever partner. */
export async function selectRequest(db: Database, jobId: number): Promise<JobRequest | null> {
  const { rows } = await sql<Row>`
    SELECT j.status, j.kind, j.partner_id, p.name, p.prefix,
      l.file_path AS import_path, l.path_type, l.key_type, l.compressed, l.mode,
      a.file_path AS audience_path, a.audience_id, audience.customer_id, a.generation < audience.generation AS is_cleared
    FROM job j
    JOIN partner p ON p.id = j.partner_id
    LEFT JOIN import_log l ON l.job_id = j.id
    LEFT JOIN audience_load a ON a.job_id = j.id
    LEFT JOIN audience ON audience.id = a.audience_id
    WHERE j.id = ${jobId}
  `.execute(db);
  const [row] = rows;
  if (!row) return null;
  const partner = { id: row.partner_id, name: row.name, prefix: row.prefix };
  return { status: toJobStatus(row.status), partner, asked: toAskedFor(row) };
}

function toAskedFor(row: Row): AskedFor {
  const kind = toJobKind(row.kind);
  if (kind === jobKind.delete) return { kind };
  if (kind === jobKind.audience) {
    return {
      kind,
      audienceId: row.audience_id ?? 0,
      scope: { partnerId: row.partner_id, customerId: row.customer_id },
      filePath: row.audience_path ?? '',
      isCleared: row.is_cleared ?? true,
    };
  }
  return {
    kind,
    request: {
      filePath: row.import_path ?? '',
      pathType: toPathType(row.path_type ?? -1),
      keyType: toKeyType(row.key_type ?? -1),
      compressed: row.compressed,
      mode: toImportMode(row.mode ?? ''),
    },
  };
}
