-- Which rows the api may see and write, a second time: its statements name the partner, and these policies do. They bind
-- every role but the owner of the tables, who migrates, works and operates. What the role of the api may do at all is
-- in src/adapters/postgres/api-rights.ts. See docs/decisions/0040-row-security.md.

-- For whom a connection speaks. Nobody, when it was not said: then no row is shown.
CREATE OR REPLACE FUNCTION current_partner() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('inlet.partner', true), '')::bigint;
-- Null is the partner itself.
CREATE OR REPLACE FUNCTION current_customer() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('inlet.customer', true), '')::bigint;

-- All tables at once or none, and no wait in between that is long enough for a deadlock: partners ask and workers load
-- while this runs.
DO $$
DECLARE
  tables text := (
    SELECT string_agg(format('%I.%I', t.schemaname, t.tablename), ', ')
    FROM pg_tables t
    WHERE t.schemaname = 'public' AND t.tablename NOT IN ('schema_migration', 'sweep'));
BEGIN
  FOR attempt IN 1..600 LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '100ms', true);
      EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', tables);
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 600 THEN RAISE; END IF;
      PERFORM pg_sleep(0.1);
    END;
  END LOOP;
END $$;

-- Every table that has a partner. A subquery is evaluated once for a statement, but makes planning it longer: with it a record
-- was read in 1.5 times the time, without it in 1.3 times. Of tables of which a statement reads thousands of rows it is the
-- other way round: with it 10,000 files were summed up in 1.1 times the time, without it in 1.6 times.
DO $$
DECLARE
  name text;
  large CONSTANT text[] := ARRAY['job_file', 'attribute', 'attribute_foreign_key'];
BEGIN
  FOR name IN
    SELECT c.table_name FROM information_schema.columns c
    WHERE c.table_schema = 'public' AND c.column_name = 'partner_id' ORDER BY c.table_name
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('DROP POLICY IF EXISTS of_partner ON %I', name);
    EXECUTE format('CREATE POLICY of_partner ON %I USING (partner_id = %s)', name,
      CASE WHEN name = ANY (large) THEN '(SELECT current_partner())' ELSE 'current_partner()' END);
  END LOOP;
END $$;

ALTER TABLE partner ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON partner;
CREATE POLICY of_partner ON partner USING (id = current_partner());

-- Both must hold: an audience is seen by its customer, or by the partner if it is the partner's own.
DROP POLICY IF EXISTS of_customer ON audience;
CREATE POLICY of_customer ON audience AS RESTRICTIVE
  USING (customer_id IS NOT DISTINCT FROM current_customer());

-- Rows that belong to another are seen with it: the policies of that table count in these subqueries.
ALTER TABLE job_credential ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_job ON job_credential;
CREATE POLICY of_job ON job_credential
  USING (EXISTS (SELECT FROM job WHERE job.id = job_credential.job_id));
ALTER TABLE job_file_reject ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_file ON job_file_reject;
CREATE POLICY of_file ON job_file_reject
  USING (EXISTS (SELECT FROM job_file WHERE job_file.id = job_file_reject.job_file_id));
ALTER TABLE composition ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_audience ON composition;
CREATE POLICY of_audience ON composition
  USING (EXISTS (SELECT FROM audience WHERE audience.id = composition.audience_id));

-- What the api must know of others. Each shows no more than its caller has to have, with the rights of the owner; names
-- are whole, so that nobody can put something else in their place.

-- Before anybody is known. Whole rows, so that columns that come later are there.
CREATE OR REPLACE FUNCTION key_with_hash(bytea) RETURNS SETOF api_key
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT * FROM public.api_key WHERE key_hash = $1';
CREATE OR REPLACE FUNCTION partner_with_key(bytea) RETURNS SETOF partner
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT p.* FROM public.partner p JOIN public.api_key k ON k.partner_id = p.id WHERE k.key_hash = $1';

-- Calls are denied before anybody is known, or of a key of whatever partner, and are written down together. The role may add
-- them and read none.
DROP POLICY IF EXISTS added ON audit_log;
CREATE POLICY added ON audit_log FOR INSERT WITH CHECK (true);

-- Keys of many partners at once. Several processes may have seen a key: the first of them within a minute writes.
CREATE OR REPLACE FUNCTION note_key_uses(bigint[]) RETURNS void
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.api_key SET last_used_at = now()
  WHERE id = ANY ($1) AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
$$;

-- Composition reports are about the attributes of all partners.
CREATE OR REPLACE FUNCTION attributes_of_all() RETURNS TABLE (id bigint, partner_id bigint)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT id, partner_id FROM public.attribute ORDER BY id';
CREATE OR REPLACE FUNCTION names_of_attributes(bigint[]) RETURNS TABLE (id bigint, name text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT id, name FROM public.attribute WHERE id = ANY ($1)';

-- Numbers for operators: in one look, and of what is open only. In plpgsql, because the tables of the queue come later.
CREATE OR REPLACE FUNCTION what_waits(lane_queue text, file_queue text, workers_are_named text) RETURNS jsonb
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (
    WITH open_job AS MATERIALIZED (
      SELECT partner_id, status, updated_at, extract(epoch FROM now() - created_at) AS age
      FROM public.job WHERE status IN (0, 1)
      UNION ALL
      SELECT partner_id, status, updated_at, extract(epoch FROM now() - created_at)
      FROM public.job WHERE cancelled AND cleaned_at IS NULL AND status NOT IN (0, 1)
    ), token AS MATERIALIZED (
      SELECT name, singleton_key, state, start_after FROM pgboss.job
      WHERE name IN (lane_queue, file_queue) AND policy = 'exclusive' AND state <= 'active'
    )
    SELECT to_jsonb(numbers) FROM (
      SELECT
        (SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE workers_are_named) AS "workers",
        count(*) AS "openJobs",
        max(age) AS "oldestSeconds",
        count(*) FILTER (WHERE status = 0) AS "pendingJobs",
        max(age) FILTER (WHERE status = 0) AS "oldestPendingSeconds",
        count(*) FILTER (WHERE status = 1) AS "runningJobs",
        max(age) FILTER (WHERE status = 1) AS "oldestRunningSeconds",
        max(age) FILTER (WHERE status > 1) AS "oldestCleaningSeconds",
        count(DISTINCT partner_id) AS "lanesOpen",
        (SELECT count(*) FROM token WHERE name = lane_queue AND state = 'active') AS "lanesActive",
        (SELECT count(DISTINCT partner_id) FROM open_job o JOIN public.partner p ON p.id = o.partner_id
         WHERE NOT EXISTS (SELECT FROM token WHERE name = lane_queue AND singleton_key = o.partner_id::text)
           AND NOT EXISTS (SELECT FROM public.job_file f JOIN public.job j ON j.id = f.job_id
             JOIN token t ON t.name = file_queue AND t.singleton_key = f.batch_id::text
             WHERE j.partner_id = o.partner_id AND j.status = 1 AND f.status IN (0, 1))) AS "lanesWithoutToken",
        extract(epoch FROM now() - min(updated_at) FILTER (WHERE status = 1)) AS "silentSeconds",
        (SELECT count(*) FROM token JOIN public.job_file f ON f.batch_id = token.singleton_key::bigint
         WHERE name = file_queue AND state = 'active' AND f.status IN (0, 1)) AS "filesInFlight",
        (SELECT count(*) FROM token WHERE state < 'active' AND start_after <= now()) AS "readyTokens",
        (SELECT count(*) FROM token WHERE state < 'active' AND start_after > now()) AS "waitingTokens"
      FROM open_job
    ) AS numbers
  );
END $$;
