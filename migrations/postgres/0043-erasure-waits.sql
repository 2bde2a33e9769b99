-- What the batch waits for, until it is claimed again. Null while a worker runs it.
ALTER TABLE erasure_batch ADD COLUMN IF NOT EXISTS waits_for text;

-- The erasures that have not ended, for metrics. The API role cannot read the requests of all partners.
CREATE OR REPLACE FUNCTION erasure_waits() RETURNS jsonb LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object(
    'openErasures', (SELECT count(*) FROM public.erasure WHERE status < 2),
    'oldestErasureSeconds', (SELECT max(extract(epoch FROM now() - requested_at)) FROM public.erasure WHERE status < 2),
    -- Nearly always the batch with the highest ID.
    'lastErasureSeconds', (
      SELECT extract(epoch FROM finished_at - started_at) FROM public.erasure_batch
      WHERE finished_at IS NOT NULL ORDER BY id DESC LIMIT 1))
$$;
REVOKE ALL ON FUNCTION erasure_waits() FROM PUBLIC;
