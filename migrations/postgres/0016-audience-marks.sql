-- The mark of an audience no longer reads all of its files, of which there can be tens of thousands. Every change that a
-- caller can see updates the audience, updates a running job of the audience, or claims a file. The version of a row (xmin)
-- changes with each committed update, even if a transaction that started earlier commits later.
CREATE OR REPLACE FUNCTION audience_marks(bigint[]) RETURNS TABLE (id bigint, is_final boolean, mark text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT audience.id,
    NOT loads.is_unlisted AND NOT EXISTS (
      SELECT FROM job_file f
      WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded AND f.status IN (0, 1)),
    concat_ws(' ', audience.generation, audience.xmin, loads.mark, '/', claims.mark)
  FROM audience,
    LATERAL (
      SELECT coalesce(bool_or(j.listed_at IS NULL AND NOT l.superseded), false) AS is_unlisted,
        string_agg(concat(j.id, ':', j.xmin), ' ' ORDER BY j.id) AS mark
      FROM job j JOIN audience_load l ON l.job_id = j.id
      WHERE j.partner_id = audience.partner_id AND j.status IN (0, 1)
        AND l.audience_id = audience.id AND l.generation = audience.generation
    ) AS loads,
    LATERAL (
      SELECT concat(count(*), ':', sum(f.load_id)) AS mark FROM job_file f
      WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded AND f.status = 1
    ) AS claims
  WHERE audience.id = ANY ($1)
$$;
