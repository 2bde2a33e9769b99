-- The record of an audience shows the progress of its open appends, so its mark changes with it: the jobs ahead of the
-- first open append, and what has been read of the files that are loading.
CREATE OR REPLACE FUNCTION audience_marks(bigint[]) RETURNS TABLE (id bigint, is_final boolean, mark text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT audience.id,
    NOT loads.is_unlisted AND NOT EXISTS (
      SELECT FROM job_file f
      WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded AND f.status IN (0, 1)),
    concat_ws(' ', audience.generation, audience.xmin, loads.mark, '/', ahead.jobs, '/', claims.mark)
  FROM audience,
    LATERAL (
      SELECT coalesce(bool_or(j.listed_at IS NULL AND NOT l.superseded), false) AS is_unlisted, min(j.seq) AS first_seq,
        string_agg(concat(j.id, ':', j.xmin), ' ' ORDER BY j.id) AS mark
      FROM job j JOIN audience_load l ON l.job_id = j.id
      WHERE j.partner_id = audience.partner_id AND j.status IN (0, 1)
        AND l.audience_id = audience.id AND l.generation = audience.generation
    ) AS loads,
    LATERAL (
      SELECT count(*) AS jobs FROM job j
      WHERE j.partner_id = audience.partner_id AND j.status IN (0, 1) AND j.seq < loads.first_seq
    ) AS ahead,
    LATERAL (
      SELECT concat_ws(':', count(*), count(*) FILTER (WHERE f.staged), sum(f.load_id), sum(f.bytes_read),
        sum(greatest(f.rows_read, f.total_rows))) AS mark
      FROM job_file f
      WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded AND f.status = 1
    ) AS claims
  WHERE audience.id = ANY ($1) AND audience.deleted_at IS NULL
$$;
