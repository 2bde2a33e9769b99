import { sql } from 'kysely';
import type { RecordMark } from '../../ports/record-mark.ts';
import type { Database } from './connect.ts';

// Of whatever partners, in one statement: a mark holds no data. See migrations/postgres/*-following.sql.

export async function selectImportLogMarks(db: Database, ids: readonly number[]): Promise<RecordMark[]> {
  const { rows } = await sql<RecordMark>`
    SELECT id, is_final AS "isFinal", mark FROM import_log_marks(${ids}::bigint[])`.execute(db);
  return rows;
}

export async function selectAudienceMarks(db: Database, ids: readonly number[]): Promise<RecordMark[]> {
  const { rows } = await sql<RecordMark>`
    SELECT id, is_final AS "isFinal", mark FROM audience_marks(${ids}::bigint[])`.execute(db);
  return rows;
}
