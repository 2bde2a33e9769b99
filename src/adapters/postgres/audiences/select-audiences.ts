import { sql, type RawBuilder } from 'kysely';
import { audienceStatus, type Audience, type AudienceScope, type StatusesPresent } from '../../../domain/audience.ts';
import type { Database, Tx } from '../connect.ts';
import { audienceFiles } from './audience-files.ts';
import { inScope } from './in-scope.ts';

type Row = {
  id: number;
  name: string;
  warehouse_segment_id: number;
  uploaded_devices: number;
  unique_devices: number;
  matched_devices: number;
  created_at: Date;
  updated_at: Date;
  files: StatusesPresent;
};

/** The audience's own, or that of its newest entry: a file that fails changes nothing but itself. */
const updatedAt = sql`greatest(
  audience.updated_at,
  (SELECT max(f.updated_at) FROM job_file f
   WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded),
  (SELECT max(j.updated_at) FROM audience_load l JOIN job j ON j.id = l.job_id
   WHERE l.audience_id = audience.id AND l.generation = audience.generation AND NOT l.superseded AND j.listed_at IS NULL)
)`;

/** Looked for one by one: of an audience with ten thousand files a few are read. */
const entriesOf = (status: number): RawBuilder<unknown> =>
  sql`SELECT FROM (${audienceFiles}) AS entry WHERE entry.status = ${sql.lit(status)}`;

/** Audiences of the scope, newest first. Their status is made from the files each time. */
export async function selectAudiences(
  db: Database | Tx,
  scope: AudienceScope,
  filter: { readonly audienceId: number } | { readonly beforeId: number; readonly limit: number },
): Promise<Audience[]> {
  const which =
    'audienceId' in filter
      ? sql`audience.id = ${filter.audienceId}`
      : sql`audience.id < ${filter.beforeId} ORDER BY audience.id DESC LIMIT ${filter.limit}`;
  const { rows } = await sql<Row>`
    SELECT audience.id, audience.name, audience.warehouse_segment_id, audience.uploaded_devices,
           audience.unique_devices, audience.matched_devices, audience.created_at, ${updatedAt} AS updated_at,
           json_build_object(${sql.join([0, 1, 2, 3].map((status) => sql`${sql.lit(status)}, EXISTS (${entriesOf(status)})`))}) AS files
    FROM (SELECT * FROM audience WHERE ${inScope(scope)} AND ${which}) AS audience
    ORDER BY audience.id DESC
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    warehouseSegmentId: row.warehouse_segment_id,
    status: audienceStatus(row.files),
    uploadedDevices: row.uploaded_devices,
    uniqueDevices: row.unique_devices,
    matchedDevices: row.matched_devices,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}
