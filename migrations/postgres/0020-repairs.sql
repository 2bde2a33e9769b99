-- The last load ID that PostgreSQL has assigned. If ClickHouse contains a higher one, PostgreSQL was restored from an older state.
-- The role of the api cannot read the sequence.
CREATE OR REPLACE FUNCTION last_load_id() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT last_value FROM public.load_id $$;

-- The loads of a running `inlet repair`. They belong to finished jobs, and their stages must not be dropped as orphans.
CREATE TABLE IF NOT EXISTS repair_load (
  load_id bigint PRIMARY KEY,
  partner_id bigint NOT NULL REFERENCES partner (id),
  job_id bigint NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  started_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS repair_load_job ON repair_load (job_id);

ALTER TABLE repair_load ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON repair_load;
CREATE POLICY of_partner ON repair_load USING (partner_id = current_partner());

-- The object storage in which the partners' files are, as an ID that the bucket contains. Another bucket has another ID or none.
CREATE TABLE IF NOT EXISTS source_bucket (
  identity uuid PRIMARY KEY,
  recorded_at timestamptz NOT NULL DEFAULT now()
);
