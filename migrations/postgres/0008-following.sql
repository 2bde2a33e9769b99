-- For whoever follows a record (docs/decisions/0038-following-records.md).

-- Tells that something of a partner's records has changed. By triggers, so that no transaction can forget it, nor one of
-- the release before. How many bytes of a file are read is not told: it is noted twice a second for every file.
CREATE OR REPLACE FUNCTION tell_of_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('inlet_records', NEW.partner_id::text);
  RETURN NULL;
END $$;

-- Whatever changes the record of a job, or that of an audience, writes this time.
CREATE OR REPLACE TRIGGER tell_of_job AFTER UPDATE OF updated_at ON job
  FOR EACH ROW EXECUTE FUNCTION tell_of_change();
CREATE OR REPLACE TRIGGER tell_of_audience AFTER UPDATE OF updated_at ON audience
  FOR EACH ROW EXECUTE FUNCTION tell_of_change();
-- But a claim, which is all that writes a load id: it is seen in the files of an audience.
CREATE OR REPLACE TRIGGER tell_of_claim AFTER UPDATE OF load_id ON job_file
  FOR EACH ROW WHEN (NEW.audience_id IS NOT NULL AND NEW.load_id IS DISTINCT FROM OLD.load_id)
  EXECUTE FUNCTION tell_of_change();

-- Marks: another one when the record is another. They are asked for many records of many partners at once and hold no
-- data, so they are read with the rights of the owner; the records themselves are read by their partners only.
CREATE OR REPLACE FUNCTION import_log_marks(bigint[]) RETURNS TABLE (id bigint, is_final boolean, mark text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT job.id, job.status > 1, concat_ws(' ', job.status, extract(epoch FROM job.updated_at),
    CASE WHEN job.status IN (0, 1) THEN (
      SELECT count(*) FROM job ahead
      WHERE ahead.partner_id = job.partner_id AND ahead.seq < job.seq AND ahead.status IN (0, 1)) END,
    CASE WHEN job.status = 1 THEN (
      SELECT concat(sum(f.bytes_read), ' ', sum(greatest(f.rows_read, f.total_rows)))
      FROM job_file f WHERE f.job_id = job.id) END)
  FROM job WHERE job.id = ANY ($1)
$$;

CREATE OR REPLACE FUNCTION audience_marks(bigint[]) RETURNS TABLE (id bigint, is_final boolean, mark text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT audience.id, coalesce(files.are_final, true) AND coalesce(loads.are_final, true),
    concat_ws(' ', audience.generation, extract(epoch FROM audience.updated_at), files.mark, '/', loads.mark)
  FROM audience,
    LATERAL (
      SELECT bool_and(f.status > 1) AS are_final, concat(count(*), ' ', sum(hashtextextended(
        concat_ws(' ', f.id, f.status, extract(epoch FROM f.updated_at)), 0))) AS mark
      FROM job_file f
      WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded
    ) AS files,
    LATERAL (
      SELECT bool_and(j.status = 3) AS are_final, concat(count(*), ' ', sum(hashtextextended(
        concat_ws(' ', j.id, j.status, extract(epoch FROM j.updated_at)), 0))) AS mark
      FROM audience_load l JOIN job j ON j.id = l.job_id
      WHERE l.audience_id = audience.id AND l.generation = audience.generation AND NOT l.superseded
        AND j.listed_at IS NULL
    ) AS loads
  WHERE audience.id = ANY ($1)
$$;
