import { sql } from 'kysely';
import type { PartnerId } from '../../domain/ids.ts';
import { estimateSecondsLeft, openStatuses } from '../../domain/job.ts';
import { type LaneHistory, jobsInHistory } from '../../domain/lane-estimate.ts';
import type { Database, Tx } from './db/tables.ts';

/** Bounds the search for jobs that were not canceled. */
const jobsRead = 10 * jobsInHistory;

export async function selectLaneHistory(db: Database | Tx, partnerId: PartnerId): Promise<LaneHistory> {
  const { rows } = await sql<{
    finished: readonly (readonly [createdAt: number, finishedAt: number])[] | null;
    is_open: boolean;
    elapsed: number | null;
    bytes: number;
    total: number;
  }>`
    SELECT ended.finished, head.id IS NOT NULL AS is_open, extract(epoch FROM now() - head.listed_at)::float8 AS elapsed,
      files.bytes, files.total
    FROM partner
    CROSS JOIN LATERAL (
      SELECT json_agg(json_build_array(
        extract(epoch FROM created_at) * 1000, extract(epoch FROM finished_at) * 1000) ORDER BY seq DESC) AS finished
      FROM (
        SELECT * FROM (
          SELECT seq, created_at, finished_at, cancelled FROM job
          WHERE job.partner_id = partner.id AND finished_at IS NOT NULL ORDER BY seq DESC LIMIT ${jobsRead}
        ) AS newest WHERE NOT cancelled ORDER BY seq DESC LIMIT ${jobsInHistory}
      ) AS job
    ) AS ended
    LEFT JOIN LATERAL (
      SELECT id, listed_at FROM job
      WHERE job.partner_id = partner.id AND status IN (${sql.join(openStatuses)}) ORDER BY seq LIMIT 1
    ) AS head ON true
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(bytes_read), 0)::bigint AS bytes, coalesce(sum(size), 0)::bigint AS total
      FROM job_file WHERE job_id = head.id
    ) AS files
    WHERE partner.id = ${partnerId}`.execute(db);
  const [row] = rows;
  if (!row) return { finished: [], head: null };
  const secondsLeft = estimateSecondsLeft({ bytes: row.bytes, total: row.total }, row.elapsed ?? 0);
  return {
    finished: (row.finished ?? []).map(([createdAt, finishedAt]) => ({
      createdAt: new Date(createdAt),
      finishedAt: new Date(finishedAt),
    })),
    head: row.is_open ? { elapsedSeconds: row.elapsed, secondsLeft } : null,
  };
}
