import { sql } from 'kysely';
import type { AudienceScope } from '../../../domain/audience.ts';
import type { AudienceFile } from '../../../ports/audience-store.ts';
import { toJobStatus } from '../codes.ts';
import type { Database, Tx } from '../connect.ts';
import { audienceFiles } from './audience-files.ts';
import { inScope } from './in-scope.ts';

export async function selectAudienceFiles(
  db: Database | Tx,
  scope: AudienceScope,
  audienceId: number,
  limit: number,
): Promise<AudienceFile[]> {
  const { rows } = await sql<{ s3_path: string; status: number; rows: number; updated_at: Date }>`
    SELECT entry.s3_path, entry.status, entry.rows, entry.updated_at
    FROM audience, LATERAL (${audienceFiles}) AS entry
    WHERE audience.id = ${audienceId} AND ${inScope(scope)}
    ORDER BY entry.job_id, entry.id LIMIT ${limit}
  `.execute(db);
  return rows.map(({ s3_path: s3Path, status, rows: rowsUploaded, updated_at: updatedAt }) => ({
    s3Path,
    status: toJobStatus(status),
    rowsUploaded,
    updatedAt,
  }));
}
