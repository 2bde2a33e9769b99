-- Partners rename and delete audiences, cancel and retry appends, retry only failed files, and read the history of an audience.

-- The row of a deleted audience stays until its rows are purged and its jobs are past their retention. No operation shows it.
ALTER TABLE audience ADD COLUMN IF NOT EXISTS deleted_at timestamptz;
-- Whether the job loads only the files of `retry_of` that failed.
ALTER TABLE import_log ADD COLUMN IF NOT EXISTS only_failed boolean NOT NULL DEFAULT false;
ALTER TABLE audience_load ADD COLUMN IF NOT EXISTS retry_of bigint;
ALTER TABLE audience_load ADD COLUMN IF NOT EXISTS only_failed boolean NOT NULL DEFAULT false;
-- Who sent the request: an API key or a user of the console.
ALTER TABLE audience_load ADD COLUMN IF NOT EXISTS requested_by text;
ALTER TABLE dead_generation ADD COLUMN IF NOT EXISTS requested_by text;

-- A process of the previous release does not know that an audience can be deleted.
CREATE OR REPLACE FUNCTION refuse_deleted_audience() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF EXISTS (SELECT FROM public.audience a WHERE a.id = NEW.audience_id AND a.deleted_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the audience is deleted' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER refuse_deleted_audience BEFORE INSERT ON audience_load
  FOR EACH ROW EXECUTE FUNCTION refuse_deleted_audience();

-- Removes everything that describes a deleted audience. The API role has no privilege to delete rows.
CREATE OR REPLACE FUNCTION remove_records_of_deleted(partner bigint, audience bigint) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM public.audience a WHERE a.id = $2 AND a.partner_id = $1 AND a.deleted_at IS NOT NULL) THEN
    RETURN;
  END IF;
  DELETE FROM public.composition c WHERE c.audience_id = $2;
  DELETE FROM public.report_request r WHERE r.audience_id = $2;
  DELETE FROM public.index_audience i WHERE i.audience_id = $2;
  DELETE FROM public.console_link l WHERE l.partner_id = $1 AND l.audience_id = $2;
  DELETE FROM public.console_session s WHERE s.partner_id = $1 AND s.audience_id = $2;
  DELETE FROM public.overlap o
    WHERE o.partner_id = $1 AND o.published -> 'audiences' @> jsonb_build_array(jsonb_build_object('audienceId', $2));
END $$;

-- Removes a customer without audiences. The rows of deleted audiences stay until their jobs are past the retention.
CREATE OR REPLACE FUNCTION remove_customer(customer bigint) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM FROM public.customer c WHERE c.id = $1 AND c.partner_id = public.current_partner() FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF EXISTS (SELECT FROM public.audience a WHERE a.customer_id = $1 AND a.deleted_at IS NULL) THEN RETURN false; END IF;
  UPDATE public.audience a SET customer_id = NULL WHERE a.customer_id = $1 AND a.deleted_at IS NOT NULL;
  DELETE FROM public.user_token t WHERE t.customer_id = $1;
  UPDATE public.event e SET customer_id = NULL WHERE e.customer_id = $1;
  DELETE FROM public.customer c WHERE c.id = $1;
  RETURN true;
EXCEPTION WHEN foreign_key_violation THEN
  RETURN false;
END $$;

CREATE OR REPLACE FUNCTION audiences_of(bigint) RETURNS SETOF bigint
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT count(*) FROM public.audience WHERE partner_id = $1 AND deleted_at IS NULL HAVING $1 = public.current_partner()
$$;

-- A partner can list the audiences of all its customers. Its setting is then `*` instead of the ID of a customer.
CREATE OR REPLACE FUNCTION current_customer() RETURNS bigint
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(nullif(current_setting('inlet.customer', true), ''), '*')::bigint;
ALTER POLICY of_customer ON audience
  USING (customer_id IS NOT DISTINCT FROM current_customer() OR current_setting('inlet.customer', true) = '*');

-- Omits deleted audiences.
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
  WHERE audience.id = ANY ($1) AND audience.deleted_at IS NULL
$$;
