CREATE FUNCTION public.attributes_of_all() RETURNS TABLE(id bigint, partner_id bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$SELECT id, partner_id FROM public.attribute ORDER BY id$$;

CREATE FUNCTION public.audience_marks(bigint[]) RETURNS TABLE(id bigint, is_final boolean, mark text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
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
$_$;

CREATE FUNCTION public.audiences_of(bigint) RETURNS SETOF bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT count(*) FROM public.audience WHERE partner_id = $1 AND deleted_at IS NULL HAVING $1 = public.current_partner()
$_$;

CREATE FUNCTION public.audit_actor() RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT coalesce(
    nullif(current_setting('inlet.actor', true), ''),
    nullif(current_setting('inlet.caller', true), ''),
    nullif(current_setting('application_name'), ''),
    session_user
  )
$$;

CREATE FUNCTION public.audit_audience() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO audit_log (event, actor, partner_id, subject_id, detail)
  VALUES (
    CASE WHEN TG_TABLE_NAME <> 'audience' THEN 'audience.dismiss'
      WHEN to_jsonb(NEW) ->> 'deleted_at' IS NULL THEN 'audience.update' ELSE 'audience.delete' END,
    audit_actor(),
    NEW.partner_id,
    coalesce(to_jsonb(NEW) ->> 'audience_id', to_jsonb(NEW) ->> 'id')::bigint,
    CASE TG_TABLE_NAME
      WHEN 'job_file' THEN jsonb_build_object('file_id', to_jsonb(NEW) ->> 'id')
      WHEN 'audience_load' THEN jsonb_build_object('file_id', 'path-' || (to_jsonb(NEW) ->> 'job_id'))
    END
  );
  RETURN NULL;
END $$;

CREATE FUNCTION public.audit_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
  before jsonb;
  after jsonb;
  whole jsonb;
  seen jsonb;
BEGIN
  IF TG_OP IN ('UPDATE', 'DELETE') THEN before := to_jsonb(OLD); END IF;
  IF TG_OP IN ('INSERT', 'UPDATE') THEN after := to_jsonb(NEW); END IF;
  whole := coalesce(after, before);
  seen := audit_shown(whole);
  IF TG_OP = 'UPDATE' THEN
    SELECT jsonb_build_object(
      'changed', jsonb_agg(n.key ORDER BY n.key),
      'before', audit_shown(jsonb_object_agg(n.key, before -> n.key)),
      'after', audit_shown(jsonb_object_agg(n.key, n.value))
    ) INTO seen
    FROM jsonb_each(after) n WHERE n.value IS DISTINCT FROM before -> n.key;
  END IF;
  INSERT INTO audit_log (event, actor, partner_id, key_id, subject_id, detail)
  VALUES (
    TG_TABLE_NAME || '.' || lower(TG_OP),
    audit_actor(),
    CASE TG_TABLE_NAME WHEN 'partner' THEN whole ->> 'id' ELSE whole ->> 'partner_id' END::bigint,
    CASE TG_TABLE_NAME WHEN 'api_key' THEN whole ->> 'id' END::bigint,
    (whole ->> 'id')::bigint,
    seen
  );
  RETURN NULL;
END $$;

CREATE FUNCTION public.audit_foreign_keys() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO audit_log (event, actor, partner_id, subject_id, detail)
  SELECT
    TG_TABLE_NAME || '.' || lower(TG_OP), audit_actor(), partner_id, attribute_id,
    jsonb_build_object('count', count(*), 'first', to_jsonb((array_agg(foreign_key ORDER BY foreign_key))[:20]))
  FROM changed GROUP BY partner_id, attribute_id ORDER BY attribute_id;
  RETURN NULL;
END $$;

CREATE FUNCTION public.audit_refuse() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is only added to' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE FUNCTION public.audit_refuse_recent() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF OLD.at > now() - interval '90 days' THEN
    RAISE EXCEPTION 'entries of the audit log can be deleted after 90 days' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN OLD;
END $$;

CREATE FUNCTION public.audit_shown(changed jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT jsonb_object_agg(key, value) FROM jsonb_each(changed)
  WHERE key !~ 'hash|secret|sealed|password|external_id'
$$;

CREATE FUNCTION public.console_session_with_hash(bytea) RETURNS TABLE(id bigint, role text, name text, segment_id bigint, audience_id bigint, expires_at timestamp with time zone, idle_expires_at timestamp with time zone, partner_id bigint, partner_name text, partner_prefix text, customer_id bigint, customer_name text, key_scopes text[])
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT s.id, s.role, s.name, s.segment_id, s.audience_id, s.expires_at, s.idle_expires_at,
    p.id, p.name, p.prefix, c.id, c.name, k.scopes
  FROM public.console_session s
  LEFT JOIN public.partner p ON p.id = s.partner_id
  LEFT JOIN public.customer c ON c.id = s.customer_id
  LEFT JOIN public.api_key k ON k.id = s.api_key_id
  WHERE s.token_hash = $1 AND now() < least(s.expires_at, s.idle_expires_at)
    AND (s.api_key_id IS NULL OR (k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)))
$_$;

CREATE FUNCTION public.console_subject(partner_name text, customer_name text) RETURNS TABLE(partner_id bigint, customer_id bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT p.id, c.id FROM public.partner p
  LEFT JOIN public.customer c ON c.partner_id = p.id AND c.name = $2
  WHERE p.name = $1 AND p.suspended_at IS NULL
$_$;

CREATE FUNCTION public.current_customer() RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(NULLIF(current_setting('inlet.customer'::text, true), ''::text), '*'::text))::bigint;

CREATE FUNCTION public.current_partner() RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('inlet.partner'::text, true), ''::text))::bigint;

CREATE FUNCTION public.describe_attributes(bigint[]) RETURNS TABLE(id bigint, name text, provider text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$SELECT a.id, a.name, p.name FROM public.attribute a JOIN public.partner p ON p.id = a.partner_id WHERE a.id = ANY ($1)$_$;

CREATE FUNCTION public.drop_waits() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object(
    'dropFetchSeconds', (SELECT extract(epoch FROM now() - coalesce(fetched_at, first_tried_at)) FROM public.drop_fetch),
    'dropCycleSeconds', (SELECT extract(epoch FROM now() - downloaded_at) FROM public.drop_cycle WHERE finished_at IS NULL)
  )
$$;

CREATE FUNCTION public.end_console_session(bytea) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$DELETE FROM public.console_session WHERE token_hash = $1$_$;

CREATE FUNCTION public.erasure_waits() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object(
    'openErasures', (SELECT count(*) FROM public.erasure WHERE status < 2),
    'oldestErasureSeconds', (SELECT max(extract(epoch FROM now() - requested_at)) FROM public.erasure WHERE status < 2),
    -- Nearly always the batch with the highest ID.
    'lastErasureSeconds', (
      SELECT extract(epoch FROM finished_at - started_at) FROM public.erasure_batch
      WHERE finished_at IS NOT NULL ORDER BY id DESC LIMIT 1))
$$;

CREATE FUNCTION public.extend_console_session(bytea, idle_seconds double precision) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  UPDATE public.console_session SET idle_expires_at = least(expires_at, now() + make_interval(secs => $2))
  WHERE token_hash = $1 AND now() < idle_expires_at
$_$;

CREATE FUNCTION public.find_console_session(bytea) RETURNS TABLE(id bigint, role text, name text, segment_id bigint, audience_id bigint, expires_at timestamp with time zone, idle_expires_at timestamp with time zone, partner_id bigint, partner_name text, partner_prefix text, customer_id bigint, customer_name text, key_scopes text[], window_id bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT s.id, s.role, s.name, s.segment_id, s.audience_id, s.expires_at, s.idle_expires_at,
    p.id, p.name, p.prefix, c.id, c.name, k.scopes, -1 - (hashtextextended(s.subject, 0) & 4503599627370495)
  FROM public.console_session s
  LEFT JOIN public.partner p ON p.id = s.partner_id
  LEFT JOIN public.customer c ON c.id = s.customer_id
  LEFT JOIN public.api_key k ON k.id = s.api_key_id
  LEFT JOIN public.user_token t ON t.id = s.user_token_id
  WHERE s.token_hash = $1 AND now() < least(s.expires_at, s.idle_expires_at)
    AND (s.api_key_id IS NULL OR (k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)))
    AND t.revoked_at IS NULL AND p.suspended_at IS NULL
$_$;

CREATE FUNCTION public.folds_of_all() RETURNS TABLE(partner_id bigint, fold_id bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT f.partner_id, f.fold_id FROM public.index_fold f
  WHERE NOT EXISTS (SELECT FROM public.index_change c WHERE c.audience_id = 0 AND c.from_version = 0)
  UNION ALL SELECT 0, 0 WHERE NOT EXISTS (SELECT FROM public.index_fold) AND NOT EXISTS (SELECT FROM public.index_change c WHERE c.audience_id = 0)
$$;

CREATE FUNCTION public.import_log_marks(bigint[]) RETURNS TABLE(id bigint, is_final boolean, mark text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
  SELECT job.id, job.status > 1, concat_ws(' ', job.status, extract(epoch FROM job.updated_at),
    CASE WHEN job.status IN (0, 1) THEN (
      SELECT count(*) FROM job ahead
      WHERE ahead.partner_id = job.partner_id AND ahead.seq < job.seq AND ahead.status IN (0, 1)) END,
    CASE WHEN job.status = 1 THEN (
      SELECT concat(sum(f.bytes_read), ' ', sum(greatest(f.rows_read, f.total_rows)))
      FROM job_file f WHERE f.job_id = job.id) END)
  FROM job WHERE job.id = ANY ($1)
$_$;

CREATE FUNCTION public.index_waits() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object('indexChanges', count(*), 'oldestIndexChangeSeconds', extract(epoch FROM now() - min(since)))
  FROM public.index_change
$$;

CREATE FUNCTION public.keep_credential_ended() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at THEN
    RAISE EXCEPTION 'a revocation is permanent' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF TG_TABLE_NAME = 'api_key' THEN
    IF OLD.expires_at IS NOT NULL AND coalesce(NEW.expires_at > OLD.expires_at, true) THEN
      RAISE EXCEPTION 'the expiry of a key can only move closer' USING ERRCODE = 'insufficient_privilege';
    END IF;
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION public.keep_given_files() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM job_file f USING inserted i, import_log l
  WHERE f.id = i.id AND l.job_id = i.job_id AND l.subscription_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM subscription_object o
    WHERE o.job_id = i.job_id AND o.key = i.key AND o.etag = i.etag AND o.size = i.size AND o.state = 'queued');
  RETURN NULL;
END $$;

CREATE FUNCTION public.key_of_session(session bigint) RETURNS SETOF bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$SELECT api_key_id FROM public.console_session WHERE id = $1 AND partner_id = public.current_partner()$_$;

CREATE TABLE public.api_key (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    key_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone,
    name text DEFAULT ''::text NOT NULL,
    scopes text[],
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_by text
);

CREATE FUNCTION public.key_with_hash(bytea) RETURNS SETOF public.api_key
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$SELECT * FROM public.api_key WHERE key_hash = $1$_$;

CREATE FUNCTION public.last_load_id() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ SELECT last_value FROM public.load_id $$;

CREATE FUNCTION public.names_of_attributes(bigint[]) RETURNS TABLE(id bigint, name text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$SELECT id, name FROM public.attribute WHERE id = ANY ($1)$_$;

CREATE FUNCTION public.note_all_index_changes() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  DELETE FROM public.index_audience;
  DELETE FROM public.index_fold;
  DELETE FROM public.index_shard;
  INSERT INTO public.index_change (partner_id) SELECT DISTINCT partner_id FROM public.attribute;
  INSERT INTO public.index_change (partner_id, audience_id)
  SELECT partner_id, id FROM public.audience WHERE last_load_id IS NOT NULL;
  RETURN (SELECT count(*) FROM (SELECT DISTINCT partner_id, audience_id FROM public.index_change) AS changed);
END $$;

CREATE FUNCTION public.note_audience_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO public.index_change (partner_id, audience_id) VALUES (NEW.partner_id, NEW.id);
  RETURN NULL;
END $$;

CREATE FUNCTION public.note_job_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  deleted bigint[] := '{}';
BEGIN
  IF NEW.kind = 'delete' THEN
    SELECT ARRAY(SELECT jsonb_array_elements_text(l.attribute_ids)::bigint) INTO deleted
    FROM public.import_log l WHERE l.job_id = NEW.id;
  END IF;
  INSERT INTO public.index_change (partner_id, from_version, attribute_ids)
  VALUES (NEW.partner_id, NEW.seq * 2, coalesce(deleted, '{}'));
  RETURN NULL;
END $$;

CREATE FUNCTION public.note_key_uses(bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  UPDATE public.api_key SET last_used_at = now()
  WHERE id = ANY ($1) AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
$_$;

CREATE FUNCTION public.note_repair() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO public.index_change (partner_id, audience_id)
  SELECT OLD.partner_id, coalesce((SELECT l.audience_id FROM public.audience_load l WHERE l.job_id = OLD.job_id), 0);
  RETURN NULL;
END $$;

CREATE FUNCTION public.notify_event() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('inlet_events', partner_id::text) FROM (SELECT DISTINCT partner_id FROM appended) AS of_partner;
  RETURN NULL;
END $$;

CREATE FUNCTION public.notify_finished_report() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('inlet_finished_reports', OLD.partner_id::text);
  RETURN NULL;
END $$;

CREATE FUNCTION public.notify_requested_report() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('inlet_report_requests', NEW.partner_id::text);
  RETURN NULL;
END $$;

CREATE FUNCTION public.open_console_session(token bytea, role text, subject text, name text, partner bigint, customer bigint, api_key bigint, segment bigint, audience bigint, idle_seconds double precision, seconds double precision, at_most integer) RETURNS timestamp with time zone
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  DELETE FROM public.console_session WHERE id IN (
    SELECT s.id FROM public.console_session s WHERE s.subject = $3 AND s.partner_id IS NOT DISTINCT FROM $5
    ORDER BY s.id DESC OFFSET greatest(0, $12 - 1));
  INSERT INTO public.console_session (
    token_hash, role, subject, name, partner_id, customer_id, api_key_id, segment_id, audience_id, expires_at, idle_expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $11),
    now() + make_interval(secs => least($10, $11)))
  RETURNING expires_at;
$_$;

CREATE FUNCTION public.open_console_session(token bytea, role text, subject text, name text, partner bigint, customer bigint, api_key bigint, user_token bigint, segment bigint, audience bigint, idle_seconds double precision, seconds double precision, at_most integer) RETURNS timestamp with time zone
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  DELETE FROM public.console_session WHERE id IN (
    SELECT s.id FROM public.console_session s WHERE s.subject = $3 AND s.partner_id IS NOT DISTINCT FROM $5
    ORDER BY s.id DESC OFFSET greatest(0, $13 - 1));
  INSERT INTO public.console_session (
    token_hash, role, subject, name, partner_id, customer_id, api_key_id, user_token_id, segment_id, audience_id, expires_at,
    idle_expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + make_interval(secs => $12),
    now() + make_interval(secs => least($11, $12)))
  RETURNING expires_at;
$_$;

CREATE TABLE public.partner (
    id bigint NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    next_seq bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    audience_bad_row_share double precision DEFAULT 0 NOT NULL,
    purge_after timestamp with time zone DEFAULT now() NOT NULL,
    external_id uuid DEFAULT gen_random_uuid() NOT NULL,
    unhyphenated_ids boolean DEFAULT false NOT NULL,
    suspended_at timestamp with time zone,
    device_days integer,
    CONSTRAINT partner_audience_bad_row_share_check CHECK (((audience_bad_row_share >= (0)::double precision) AND (audience_bad_row_share <= (1)::double precision))),
    CONSTRAINT partner_device_days_check CHECK ((device_days > 0))
);

CREATE FUNCTION public.partner_with_key(bytea) RETURNS SETOF public.partner
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$SELECT p.* FROM public.partner p JOIN public.api_key k ON k.partner_id = p.id WHERE k.key_hash = $1$_$;

CREATE FUNCTION public.recorded_shards() RETURNS TABLE(number integer, identity uuid, weight integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ SELECT s.number, s.identity, s.weight FROM public.shard s ORDER BY s.number $$;

CREATE FUNCTION public.redeem_console_link(bytea) RETURNS TABLE(partner_id bigint, partner_name text, partner_prefix text, customer_id bigint, customer_name text, api_key_id bigint, user_token_id bigint, segment_id bigint, audience_id bigint)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  WITH used AS (
    UPDATE public.console_link SET used_at = now()
    WHERE token_hash = $1 AND used_at IS NULL AND now() < expires_at
    RETURNING *)
  SELECT p.id, p.name, p.prefix, c.id, c.name, k.id, used.user_token_id, used.segment_id, used.audience_id
  FROM used
  JOIN public.partner p ON p.id = used.partner_id AND p.suspended_at IS NULL
  JOIN public.api_key k ON k.id = used.api_key_id AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)
  LEFT JOIN public.customer c ON c.id = used.customer_id
  LEFT JOIN public.user_token t ON t.id = used.user_token_id
  WHERE t.revoked_at IS NULL
$_$;

CREATE FUNCTION public.refuse_deleted_audience() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF EXISTS (SELECT FROM public.audience a WHERE a.id = NEW.audience_id AND a.deleted_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the audience is deleted' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION public.remove_customer(customer bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
END $_$;

CREATE FUNCTION public.remove_records_of_deleted(partner bigint, audience bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
END $_$;

CREATE FUNCTION public.report_waits() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object('reportRequests', count(*), 'oldestReportRequestSeconds', extract(epoch FROM now() - min(requested_at)))
  FROM public.report_request
$$;

CREATE FUNCTION public.subscription_waits() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object(
    'subscriptionObjects', (
      SELECT count(*) FROM (
        SELECT FROM public.subscription_state s
        JOIN public.subscription_object o ON o.subscription_id = s.subscription_id AND o.state = 'waiting'
        WHERE s.is_active LIMIT 100000) AS waiting),
    'subscriptionListingDelaySeconds', (
      SELECT max(extract(epoch FROM now() - next_listing_at)) FROM public.subscription_state
      WHERE is_active AND next_listing_at < now()))
$$;

CREATE FUNCTION public.tell_of_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('inlet_records', NEW.partner_id::text);
  RETURN NULL;
END $$;

CREATE FUNCTION public.untie_foreign_keys(attribute bigint, keys text[]) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  WITH untied AS (
    DELETE FROM public.attribute_foreign_key
    WHERE partner_id = public.current_partner() AND attribute_id = $1 AND foreign_key = ANY ($2)
    RETURNING 1)
  SELECT count(*) FROM untied
$_$;

CREATE FUNCTION public.use_console_link(bytea) RETURNS TABLE(partner_id bigint, partner_name text, partner_prefix text, customer_id bigint, customer_name text, api_key_id bigint, segment_id bigint, audience_id bigint)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  WITH used AS (
    UPDATE public.console_link SET used_at = now()
    WHERE token_hash = $1 AND used_at IS NULL AND now() < expires_at
    RETURNING *)
  SELECT p.id, p.name, p.prefix, c.id, c.name, k.id, used.segment_id, used.audience_id
  FROM used
  JOIN public.partner p ON p.id = used.partner_id
  JOIN public.api_key k ON k.id = used.api_key_id AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)
  LEFT JOIN public.customer c ON c.id = used.customer_id
$_$;

CREATE FUNCTION public.webhook_waits() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object(
    'webhookEvents', coalesce(sum(c.last_sequence - s.position), 0) + (
      SELECT count(*) FROM public.webhook_delivery d JOIN public.webhook_state e ON e.webhook_id = d.webhook_id
      WHERE d.next_attempt_at IS NOT NULL AND e.disabled_at IS NULL),
    'oldestWebhookEventSeconds', max(extract(epoch FROM now() - (
      SELECT e.created_at FROM public.event e
      WHERE e.partner_id = s.partner_id AND e.sequence > s.position ORDER BY e.sequence LIMIT 1)))
      FILTER (WHERE s.failing_since IS NULL),
    'webhooksFailing', count(*) FILTER (WHERE s.failing_since IS NOT NULL))
  FROM public.webhook_state s LEFT JOIN public.event_counter c ON c.partner_id = s.partner_id
  WHERE s.disabled_at IS NULL
$$;

CREATE FUNCTION public.what_waits(lane_queue text, file_queue text, workers_are_named text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  RETURN (
    WITH open_job AS MATERIALIZED (
      SELECT partner_id, status, updated_at, extract(epoch FROM now() - created_at) AS age
      FROM public.job WHERE status = 1 OR (status = 0 AND NOT EXISTS (
        SELECT FROM public.partner p WHERE p.id = job.partner_id AND p.suspended_at IS NOT NULL))
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

CREATE TABLE public.accepted_request (
    partner_id bigint NOT NULL,
    key_hash bytea NOT NULL,
    fingerprint bytea NOT NULL,
    result jsonb NOT NULL,
    accepted_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.api_key ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.api_key_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.attribute (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    retired_at timestamp with time zone
);

CREATE TABLE public.attribute_foreign_key (
    partner_id bigint NOT NULL,
    foreign_key text NOT NULL,
    attribute_id bigint NOT NULL
);

ALTER TABLE public.attribute ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.attribute_id_seq
    START WITH 1001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE public.warehouse_segment_id
    START WITH 500001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.audience (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    customer_id bigint,
    name text NOT NULL,
    warehouse_segment_id bigint DEFAULT nextval('public.warehouse_segment_id'::regclass) NOT NULL,
    generation integer DEFAULT 0 NOT NULL,
    uploaded_devices bigint DEFAULT 0 NOT NULL,
    unique_devices bigint DEFAULT 0 NOT NULL,
    matched_devices bigint DEFAULT 0 NOT NULL,
    last_load_id bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    matched_version bigint DEFAULT 0 NOT NULL,
    matched_at timestamp with time zone,
    deleted_at timestamp with time zone
);

ALTER TABLE public.audience ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.audience_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.audience_load (
    job_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    audience_id bigint NOT NULL,
    generation integer NOT NULL,
    file_path text NOT NULL,
    superseded boolean DEFAULT false NOT NULL,
    dismissed_at timestamp with time zone,
    literal_path text,
    retry_of bigint,
    only_failed boolean DEFAULT false NOT NULL,
    requested_by text,
    dismissed_by text
);

CREATE TABLE public.audit_log (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    event text NOT NULL,
    actor text NOT NULL,
    database_user text DEFAULT SESSION_USER NOT NULL,
    partner_id bigint,
    key_id bigint,
    subject_id bigint,
    operation text,
    code text,
    request_id text,
    calls bigint DEFAULT 1 NOT NULL,
    detail jsonb
);

ALTER TABLE public.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.backup (
    id bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone DEFAULT now() NOT NULL,
    taken_at timestamp with time zone,
    bytes bigint,
    destination text NOT NULL,
    failure text
);

ALTER TABLE public.backup ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.backup_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.composition (
    audience_id bigint NOT NULL,
    split text NOT NULL,
    generation integer NOT NULL,
    last_load_id bigint NOT NULL,
    report jsonb NOT NULL,
    computed_at timestamp with time zone DEFAULT now() NOT NULL,
    published jsonb,
    published_with text,
    cells jsonb
);

CREATE TABLE public.console_link (
    id bigint NOT NULL,
    token_hash bytea NOT NULL,
    partner_id bigint NOT NULL,
    customer_id bigint,
    api_key_id bigint NOT NULL,
    segment_id bigint NOT NULL,
    audience_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    user_token_id bigint
);

ALTER TABLE public.console_link ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.console_link_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.console_session (
    id bigint NOT NULL,
    token_hash bytea NOT NULL,
    role text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    partner_id bigint,
    customer_id bigint,
    api_key_id bigint,
    segment_id bigint,
    audience_id bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    idle_expires_at timestamp with time zone NOT NULL,
    user_token_id bigint,
    CONSTRAINT console_session_check CHECK (((role = 'operator'::text) = (partner_id IS NULL))),
    CONSTRAINT console_session_check1 CHECK (((role <> 'customer'::text) OR (customer_id IS NOT NULL))),
    CONSTRAINT console_session_check2 CHECK (((role = 'link'::text) = ((segment_id IS NOT NULL) AND (audience_id IS NOT NULL)))),
    CONSTRAINT console_session_role_check CHECK ((role = ANY (ARRAY['partner'::text, 'customer'::text, 'link'::text, 'operator'::text])))
);

ALTER TABLE public.console_session ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.console_session_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.customer (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.customer ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.customer_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.dead_generation (
    audience_id bigint NOT NULL,
    generation integer NOT NULL,
    partner_id bigint NOT NULL,
    dead_at timestamp with time zone DEFAULT now() NOT NULL,
    check_at timestamp with time zone DEFAULT now() NOT NULL,
    purging_until timestamp with time zone,
    purged_rows bigint DEFAULT 0 NOT NULL,
    purged_at timestamp with time zone,
    requested_by text
);

CREATE TABLE public.device_retention (
    partner_id bigint NOT NULL,
    forgotten_seq bigint DEFAULT 0 NOT NULL,
    unseen_seq bigint DEFAULT 0 NOT NULL,
    is_removing boolean DEFAULT false NOT NULL,
    rows bigint DEFAULT 0 NOT NULL,
    attribute_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    failure text,
    removed_rows bigint DEFAULT 0 NOT NULL,
    removed_at timestamp with time zone
);

CREATE TABLE public.drop_cycle (
    id bigint NOT NULL,
    step text DEFAULT 'download'::text NOT NULL,
    claim bigint DEFAULT 0 NOT NULL,
    claimed_until timestamp with time zone,
    waiting_for text,
    failure_detail text,
    archive_name text,
    archive_key text,
    archive_bytes bigint,
    archive_sha256 text,
    policy jsonb,
    lists jsonb DEFAULT '[]'::jsonb NOT NULL,
    devices_found bigint DEFAULT 0 NOT NULL,
    erasure_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    erasure_list jsonb,
    remaining jsonb DEFAULT '[]'::jsonb NOT NULL,
    statuses jsonb DEFAULT '{}'::jsonb NOT NULL,
    proof jsonb,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    downloaded_at timestamp with time zone,
    verified_at timestamp with time zone,
    finished_at timestamp with time zone,
    is_open boolean GENERATED ALWAYS AS (
CASE
    WHEN (finished_at IS NULL) THEN true
    ELSE NULL::boolean
END) STORED
);

ALTER TABLE public.drop_cycle ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.drop_cycle_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.drop_fetch (
    is_only boolean DEFAULT true NOT NULL,
    first_tried_at timestamp with time zone DEFAULT now() NOT NULL,
    tried_at timestamp with time zone DEFAULT now() NOT NULL,
    fetched_at timestamp with time zone,
    outcome text DEFAULT ''::text NOT NULL,
    CONSTRAINT drop_fetch_is_only_check CHECK (is_only)
);

CREATE TABLE public.drop_upload (
    cycle_id bigint NOT NULL,
    name text NOT NULL,
    is_amendment boolean DEFAULT false NOT NULL,
    object_key text NOT NULL,
    items bigint NOT NULL,
    bytes bigint NOT NULL,
    sha256 text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    sent_at timestamp with time zone,
    accepted_at timestamp with time zone,
    message text
);

CREATE TABLE public.erased_partner (
    partner_id bigint NOT NULL,
    erased_at timestamp with time zone NOT NULL,
    rows bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.erasure (
    id bigint NOT NULL,
    partner_id bigint,
    batch_id bigint,
    status smallint DEFAULT 0 NOT NULL,
    requested_by text NOT NULL,
    object_key text,
    key_id text,
    sealed bytea,
    ids bigint DEFAULT 0 NOT NULL,
    invalid_lines bigint DEFAULT 0 NOT NULL,
    ids_digest text DEFAULT ''::text NOT NULL,
    ids_salt text DEFAULT ''::text NOT NULL,
    waiting_for text,
    failure_code text,
    failure_detail text,
    proof jsonb,
    proof_csv text,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT erasure_status_check CHECK (((status >= 0) AND (status <= 3)))
);

CREATE SEQUENCE public.erasure_list_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.erasure_batch (
    id bigint NOT NULL,
    step text DEFAULT 'list'::text NOT NULL,
    claim bigint DEFAULT 0 NOT NULL,
    claimed_until timestamp with time zone,
    list_id bigint DEFAULT nextval('public.erasure_list_id'::regclass) NOT NULL,
    last_load_id bigint NOT NULL,
    rounds integer DEFAULT 0 NOT NULL,
    first_fold_id bigint,
    erased jsonb DEFAULT '[]'::jsonb NOT NULL,
    remaining jsonb DEFAULT '[]'::jsonb NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    erased_at timestamp with time zone,
    finished_at timestamp with time zone,
    waits_for text
);

ALTER TABLE public.erasure_batch ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.erasure_batch_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.erasure ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.erasure_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.event (
    partner_id bigint NOT NULL,
    sequence bigint NOT NULL,
    customer_id bigint,
    type text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    id uuid DEFAULT gen_random_uuid()
);

CREATE TABLE public.event_counter (
    partner_id bigint NOT NULL,
    last_sequence bigint NOT NULL
);

CREATE SEQUENCE public.fold_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.import_log (
    job_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    log_type smallint NOT NULL,
    file_path text NOT NULL,
    path_type smallint NOT NULL,
    key_type smallint NOT NULL,
    compressed boolean,
    mode text DEFAULT 'merge'::text NOT NULL,
    keys jsonb,
    attribute_ids jsonb,
    bytes_total bigint DEFAULT 0 NOT NULL,
    total_rows bigint DEFAULT 0 NOT NULL,
    unique_devices bigint DEFAULT 0 NOT NULL,
    errors jsonb,
    retry_of bigint,
    only_failed boolean DEFAULT false NOT NULL,
    subscription_id bigint,
    suppressed bigint DEFAULT 0 NOT NULL,
    requested_by text DEFAULT NULLIF(current_setting('inlet.requester'::text, true), ''::text),
    CONSTRAINT import_log_mode_check CHECK ((mode = ANY (ARRAY['merge'::text, 'replace'::text])))
);

CREATE TABLE public.index_audience (
    audience_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    generation integer NOT NULL,
    load_id bigint NOT NULL,
    fold_id bigint NOT NULL,
    devices bigint NOT NULL,
    folded_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.index_change (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    audience_id bigint DEFAULT 0 NOT NULL,
    from_version bigint DEFAULT 0 NOT NULL,
    attribute_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    retry_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.index_change ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.index_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.index_fold (
    partner_id bigint NOT NULL,
    fold_id bigint NOT NULL,
    folded_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.index_shard (
    number integer NOT NULL,
    known_table text NOT NULL,
    known_blocks jsonb NOT NULL,
    CONSTRAINT index_shard_number_check CHECK ((number > 0))
);

CREATE TABLE public.job (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    cancelled boolean DEFAULT false NOT NULL,
    failure_code text,
    failure_detail text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    listed_at timestamp with time zone,
    finished_at timestamp with time zone,
    cleaned_at timestamp with time zone,
    cancel_requested_at timestamp with time zone,
    cancel_requested_by text,
    canceled_by text,
    CONSTRAINT job_kind_check CHECK ((kind = ANY (ARRAY['import'::text, 'delete'::text, 'audience'::text]))),
    CONSTRAINT job_status_check CHECK (((status >= 0) AND (status <= 3)))
);

CREATE TABLE public.job_credential (
    job_id bigint NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL
);

CREATE TABLE public.job_file (
    id bigint NOT NULL,
    job_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL,
    etag text NOT NULL,
    size bigint NOT NULL,
    gzip boolean,
    status smallint DEFAULT 0 NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    load_id bigint,
    staged boolean DEFAULT false NOT NULL,
    total_rows bigint DEFAULT 0 NOT NULL,
    accepted_rows bigint DEFAULT 0 NOT NULL,
    bytes_read bigint DEFAULT 0 NOT NULL,
    rows_read bigint DEFAULT 0 NOT NULL,
    failure_code text,
    failure_detail text,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    batch_id bigint NOT NULL,
    publish_attempts integer DEFAULT 0 NOT NULL,
    audience_id bigint,
    generation integer,
    uploaded_devices bigint DEFAULT 0 NOT NULL,
    superseded boolean DEFAULT false NOT NULL,
    reloads smallint DEFAULT 0 NOT NULL,
    dismissed_at timestamp with time zone,
    suppressed_rows bigint DEFAULT 0 NOT NULL,
    shown_suppressed bigint DEFAULT 0 NOT NULL,
    dismissed_by text,
    last_modified timestamp with time zone,
    CONSTRAINT job_file_status_check CHECK (((status >= 0) AND (status <= 3)))
);

ALTER TABLE public.job_file ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.job_file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.job_file_reject (
    job_file_id bigint NOT NULL,
    reason text NOT NULL,
    rows bigint NOT NULL,
    first_row bigint NOT NULL
);

ALTER TABLE public.job ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE public.known_devices_version
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.load_account (
    load_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    job_id bigint NOT NULL,
    staged_rows jsonb NOT NULL,
    published_at timestamp with time zone,
    suppression_version bigint DEFAULT 0 NOT NULL
);

CREATE SEQUENCE public.load_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.overlap (
    partner_id bigint NOT NULL,
    key text NOT NULL,
    published jsonb NOT NULL,
    computed_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.partner ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.partner_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.partner_removal (
    partner_id bigint NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    has_storage_user boolean NOT NULL,
    step text DEFAULT 'wait'::text NOT NULL,
    requested_by text NOT NULL,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    removed jsonb DEFAULT '[]'::jsonb NOT NULL,
    remaining jsonb DEFAULT '[]'::jsonb NOT NULL,
    removed_at timestamp with time zone,
    finished_at timestamp with time zone,
    proof jsonb
);

CREATE TABLE public.partner_usage (
    partner_id bigint NOT NULL,
    stored_rows bigint DEFAULT 0 NOT NULL,
    stored_bytes bigint DEFAULT 0 NOT NULL,
    storage_measured_at timestamp with time zone,
    idempotency_keys bigint DEFAULT 0 NOT NULL,
    keys_measured_at timestamp with time zone
);

CREATE TABLE public.reject_export (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    job_id bigint NOT NULL,
    job_file_id bigint,
    folder text NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    earlier_attempts integer DEFAULT 0 NOT NULL,
    claimed_until timestamp with time zone,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    expires_at timestamp with time zone,
    failure_code text,
    failure_detail text,
    CONSTRAINT reject_export_status_check CHECK (((status >= 0) AND (status <= 3)))
);

ALTER TABLE public.reject_export ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.reject_export_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.reject_file (
    export_id bigint NOT NULL,
    job_file_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    bytes_read bigint DEFAULT 0 NOT NULL,
    rows bigint DEFAULT 0 NOT NULL,
    object_key text,
    object_bytes bigint DEFAULT 0 NOT NULL,
    failure_code text,
    failure_detail text,
    CONSTRAINT reject_file_status_check CHECK (((status >= 0) AND (status <= 3)))
);

CREATE TABLE public.repair_load (
    load_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    job_id bigint NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.report_budget (
    partner_id bigint NOT NULL,
    day timestamp with time zone NOT NULL,
    computed integer NOT NULL
);

CREATE TABLE public.report_draw (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    customer_id bigint NOT NULL,
    kind text NOT NULL,
    draws integer NOT NULL,
    drawn_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT report_draw_draws_check CHECK ((draws > 0)),
    CONSTRAINT report_draw_kind_check CHECK ((kind = ANY (ARRAY['composition'::text, 'overlap'::text])))
);

ALTER TABLE public.report_draw ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.report_draw_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.report_request (
    audience_id bigint NOT NULL,
    split text NOT NULL,
    settings text NOT NULL,
    state text NOT NULL,
    partner_id bigint NOT NULL,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    retry_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE UNLOGGED TABLE public.request_window (
    partner_id bigint NOT NULL,
    key_id bigint NOT NULL,
    number bigint NOT NULL,
    taken bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.schema_migration (
    name text NOT NULL,
    checksum text NOT NULL,
    ran_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.shard (
    number integer NOT NULL,
    identity uuid NOT NULL,
    weight integer NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT shard_number_check CHECK ((number > 0)),
    CONSTRAINT shard_weight_check CHECK ((weight > 0))
);

CREATE TABLE public.source_bucket (
    identity uuid NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.storage_key (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    access_key_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text,
    expires_at timestamp with time zone
);

ALTER TABLE public.storage_key ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.storage_key_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.subscription (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    prefix text NOT NULL,
    key_type smallint NOT NULL,
    compressed boolean NOT NULL,
    skips_existing boolean NOT NULL,
    quiet_seconds integer,
    marker text,
    every_seconds integer,
    daily_at text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    paused_at timestamp with time zone,
    deleted_at timestamp with time zone,
    CONSTRAINT subscription_check CHECK ((num_nonnulls(quiet_seconds, marker, every_seconds, daily_at) = 1))
);

ALTER TABLE public.subscription ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.subscription_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.subscription_object (
    id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    etag text NOT NULL,
    size bigint NOT NULL,
    last_modified timestamp with time zone NOT NULL,
    state text NOT NULL,
    job_id bigint,
    error_code text,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    gone_at timestamp with time zone
);

ALTER TABLE public.subscription_object ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.subscription_object_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.subscription_state (
    subscription_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    claim bigint DEFAULT 0 NOT NULL,
    claimed_at timestamp with time zone DEFAULT now() NOT NULL,
    claimed_until timestamp with time zone,
    woken_at timestamp with time zone,
    next_listing_at timestamp with time zone DEFAULT now() NOT NULL,
    listed_at timestamp with time zone,
    changed_at timestamp with time zone,
    next_import_at timestamp with time zone,
    waits_for text,
    last_job_id bigint
)
WITH (fillfactor='50');

CREATE TABLE public.suppression (
    only_row boolean DEFAULT true NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    last_version bigint DEFAULT 0 NOT NULL,
    hashes bigint DEFAULT 0 NOT NULL,
    content text DEFAULT '0'::text NOT NULL,
    stand_in_key uuid DEFAULT gen_random_uuid() NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT suppression_only_row_check CHECK (only_row)
);

CREATE TABLE public.sweep (
    name text NOT NULL,
    ran_at timestamp with time zone NOT NULL,
    next_at timestamp with time zone
);

CREATE TABLE public.upload (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    object_key text NOT NULL,
    storage_id text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    customer_id bigint
);

ALTER TABLE public.upload ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.upload_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.user_token (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    customer_id bigint NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone,
    created_by text
);

ALTER TABLE public.user_token ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.user_token_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhook (
    id bigint NOT NULL,
    partner_id bigint NOT NULL,
    url text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    event_types text[],
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    rotated_at timestamp with time zone,
    deleted_at timestamp with time zone
);

CREATE TABLE public.webhook_delivery (
    webhook_id bigint NOT NULL,
    sequence bigint NOT NULL,
    partner_id bigint NOT NULL,
    event_type text NOT NULL,
    attempts jsonb DEFAULT '[]'::jsonb NOT NULL,
    tries smallint DEFAULT 0 NOT NULL,
    is_replay boolean DEFAULT false NOT NULL,
    next_attempt_at timestamp with time zone,
    delivered_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.webhook ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.webhook_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhook_secret (
    id bigint NOT NULL,
    webhook_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.webhook_secret ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.webhook_secret_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhook_state (
    webhook_id bigint NOT NULL,
    partner_id bigint NOT NULL,
    "position" bigint NOT NULL,
    replay_position bigint DEFAULT 0 NOT NULL,
    replay_until bigint DEFAULT 0 NOT NULL,
    claim bigint DEFAULT 0 NOT NULL,
    claimed_at timestamp with time zone DEFAULT now() NOT NULL,
    claimed_until timestamp with time zone,
    paused_until timestamp with time zone,
    failures_in_a_row integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    last_failure_at timestamp with time zone,
    warned_at timestamp with time zone,
    disabled_at timestamp with time zone,
    disabled_reason text
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.accepted_request
    ADD CONSTRAINT accepted_request_pkey PRIMARY KEY (partner_id, key_hash);

ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_key_hash_key UNIQUE (key_hash);

ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.attribute_foreign_key
    ADD CONSTRAINT attribute_foreign_key_pkey PRIMARY KEY (partner_id, foreign_key);

ALTER TABLE ONLY public.attribute
    ADD CONSTRAINT attribute_partner_id_name_key UNIQUE (partner_id, name);

ALTER TABLE ONLY public.attribute
    ADD CONSTRAINT attribute_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audience_load
    ADD CONSTRAINT audience_load_pkey PRIMARY KEY (job_id);

ALTER TABLE ONLY public.audience
    ADD CONSTRAINT audience_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audience
    ADD CONSTRAINT audience_warehouse_segment_id_key UNIQUE (warehouse_segment_id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.backup
    ADD CONSTRAINT backup_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.composition
    ADD CONSTRAINT composition_pkey PRIMARY KEY (audience_id, split);

ALTER TABLE ONLY public.console_link
    ADD CONSTRAINT console_link_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.console_link
    ADD CONSTRAINT console_link_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.console_session
    ADD CONSTRAINT console_session_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.console_session
    ADD CONSTRAINT console_session_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_partner_id_name_key UNIQUE (partner_id, name);

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.dead_generation
    ADD CONSTRAINT dead_generation_pkey PRIMARY KEY (audience_id, generation);

ALTER TABLE ONLY public.device_retention
    ADD CONSTRAINT device_retention_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.drop_cycle
    ADD CONSTRAINT drop_cycle_is_open_key UNIQUE (is_open);

ALTER TABLE ONLY public.drop_cycle
    ADD CONSTRAINT drop_cycle_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.drop_fetch
    ADD CONSTRAINT drop_fetch_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY public.drop_upload
    ADD CONSTRAINT drop_upload_pkey PRIMARY KEY (cycle_id, name);

ALTER TABLE ONLY public.erased_partner
    ADD CONSTRAINT erased_partner_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.erasure_batch
    ADD CONSTRAINT erasure_batch_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.erasure
    ADD CONSTRAINT erasure_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.event_counter
    ADD CONSTRAINT event_counter_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (partner_id, sequence);

ALTER TABLE ONLY public.import_log
    ADD CONSTRAINT import_log_pkey PRIMARY KEY (job_id);

ALTER TABLE ONLY public.index_audience
    ADD CONSTRAINT index_audience_pkey PRIMARY KEY (audience_id);

ALTER TABLE ONLY public.index_change
    ADD CONSTRAINT index_change_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.index_fold
    ADD CONSTRAINT index_fold_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.index_shard
    ADD CONSTRAINT index_shard_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.job_credential
    ADD CONSTRAINT job_credential_pkey PRIMARY KEY (job_id);

ALTER TABLE ONLY public.job_file
    ADD CONSTRAINT job_file_job_id_key_key UNIQUE (job_id, key);

ALTER TABLE ONLY public.job_file
    ADD CONSTRAINT job_file_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.job_file_reject
    ADD CONSTRAINT job_file_reject_pkey PRIMARY KEY (job_file_id, reason);

ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_partner_id_seq_key UNIQUE (partner_id, seq);

ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.load_account
    ADD CONSTRAINT load_account_pkey PRIMARY KEY (load_id);

ALTER TABLE ONLY public.overlap
    ADD CONSTRAINT overlap_pkey PRIMARY KEY (partner_id, key);

ALTER TABLE ONLY public.partner
    ADD CONSTRAINT partner_name_key UNIQUE (name);

ALTER TABLE ONLY public.partner
    ADD CONSTRAINT partner_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.partner
    ADD CONSTRAINT partner_prefix_key UNIQUE (prefix);

ALTER TABLE ONLY public.partner_removal
    ADD CONSTRAINT partner_removal_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.partner_usage
    ADD CONSTRAINT partner_usage_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.reject_export
    ADD CONSTRAINT reject_export_job_id_job_file_id_key UNIQUE NULLS NOT DISTINCT (job_id, job_file_id);

ALTER TABLE ONLY public.reject_export
    ADD CONSTRAINT reject_export_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.reject_file
    ADD CONSTRAINT reject_file_pkey PRIMARY KEY (export_id, job_file_id);

ALTER TABLE ONLY public.repair_load
    ADD CONSTRAINT repair_load_pkey PRIMARY KEY (load_id);

ALTER TABLE ONLY public.report_budget
    ADD CONSTRAINT report_budget_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.report_draw
    ADD CONSTRAINT report_draw_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.report_request
    ADD CONSTRAINT report_request_pkey PRIMARY KEY (audience_id, split, settings);

ALTER TABLE ONLY public.request_window
    ADD CONSTRAINT request_window_pkey PRIMARY KEY (partner_id, key_id);

ALTER TABLE ONLY public.schema_migration
    ADD CONSTRAINT schema_migration_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.shard
    ADD CONSTRAINT shard_identity_key UNIQUE (identity);

ALTER TABLE ONLY public.shard
    ADD CONSTRAINT shard_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.source_bucket
    ADD CONSTRAINT source_bucket_pkey PRIMARY KEY (identity);

ALTER TABLE ONLY public.storage_key
    ADD CONSTRAINT storage_key_partner_id_access_key_id_key UNIQUE (partner_id, access_key_id);

ALTER TABLE ONLY public.storage_key
    ADD CONSTRAINT storage_key_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.subscription_object
    ADD CONSTRAINT subscription_object_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.subscription_object
    ADD CONSTRAINT subscription_object_subscription_id_key_etag_size_key UNIQUE (subscription_id, key, etag, size);

ALTER TABLE ONLY public.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.subscription_state
    ADD CONSTRAINT subscription_state_pkey PRIMARY KEY (subscription_id);

ALTER TABLE ONLY public.suppression
    ADD CONSTRAINT suppression_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.sweep
    ADD CONSTRAINT sweep_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.upload
    ADD CONSTRAINT upload_partner_id_storage_id_key UNIQUE (partner_id, storage_id);

ALTER TABLE ONLY public.upload
    ADD CONSTRAINT upload_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.user_token
    ADD CONSTRAINT user_token_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.user_token
    ADD CONSTRAINT user_token_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (webhook_id, sequence);

ALTER TABLE ONLY public.webhook
    ADD CONSTRAINT webhook_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_secret
    ADD CONSTRAINT webhook_secret_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_state
    ADD CONSTRAINT webhook_state_pkey PRIMARY KEY (webhook_id);

CREATE INDEX accepted_request_oldest ON public.accepted_request USING btree (accepted_at);

CREATE INDEX api_key_of ON public.api_key USING btree (partner_id, id);

CREATE INDEX attribute_foreign_key_of ON public.attribute_foreign_key USING btree (attribute_id);

CREATE INDEX audience_deleted ON public.audience USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX audience_load_of ON public.audience_load USING btree (audience_id, generation);

CREATE INDEX audience_newest ON public.audience USING btree (partner_id, customer_id, id DESC);

CREATE INDEX audience_of_customer ON public.audience USING btree (customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX audience_of_partner ON public.audience USING btree (partner_id, id DESC) WHERE (deleted_at IS NULL);

CREATE INDEX audit_log_of ON public.audit_log USING btree (partner_id, id DESC);

CREATE INDEX console_link_expired ON public.console_link USING btree (expires_at);

CREATE INDEX console_link_of_customer ON public.console_link USING btree (customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX console_link_partner ON public.console_link USING btree (partner_id, expires_at);

CREATE INDEX console_session_idle ON public.console_session USING btree (idle_expires_at);

CREATE INDEX console_session_of_customer ON public.console_session USING btree (customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX console_session_subject ON public.console_session USING btree (subject, id);

CREATE INDEX dead_generation_due ON public.dead_generation USING btree (check_at) WHERE (purged_at IS NULL);

CREATE INDEX dead_generation_purged ON public.dead_generation USING btree (purged_at) WHERE (purged_at IS NOT NULL);

CREATE INDEX erasure_batch_id ON public.erasure USING btree (batch_id);

CREATE INDEX erasure_batch_open ON public.erasure_batch USING btree (id) WHERE (finished_at IS NULL);

CREATE INDEX erasure_open ON public.erasure USING btree (id) WHERE (status < 2);

CREATE INDEX erasure_partner ON public.erasure USING btree (partner_id, id);

CREATE INDEX event_created ON public.event USING btree (created_at);

CREATE INDEX event_of_customer ON public.event USING btree (customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX import_log_newest ON public.import_log USING btree (partner_id, job_id DESC);

CREATE INDEX import_log_path ON public.import_log USING btree (partner_id, file_path COLLATE "C", job_id DESC);

CREATE INDEX job_created ON public.job USING btree (partner_id, created_at) WHERE (kind <> 'audience'::text);

CREATE INDEX job_file_batch ON public.job_file USING btree (batch_id);

CREATE INDEX job_file_load ON public.job_file USING btree (load_id);

CREATE UNIQUE INDEX job_file_loaded ON public.job_file USING btree (audience_id, generation, key, etag, size) WHERE ((audience_id IS NOT NULL) AND (status = 2));

CREATE INDEX job_file_newest ON public.job_file USING btree (audience_id, generation, updated_at) WHERE ((audience_id IS NOT NULL) AND (NOT superseded));

CREATE INDEX job_file_not_done ON public.job_file USING btree (partner_id, audience_id DESC, generation) WHERE ((audience_id IS NOT NULL) AND (status <> 2) AND (NOT superseded) AND (dismissed_at IS NULL));

CREATE INDEX job_file_of ON public.job_file USING btree (job_id, id);

CREATE INDEX job_file_of_audience ON public.job_file USING btree (audience_id, generation, key) WHERE (audience_id IS NOT NULL);

CREATE INDEX job_file_open ON public.job_file USING btree (job_id, id) WHERE (status = ANY (ARRAY[0, 1]));

CREATE INDEX job_file_shown ON public.job_file USING btree (audience_id, generation, status) WHERE ((audience_id IS NOT NULL) AND (NOT superseded));

CREATE INDEX job_file_unstaged ON public.job_file USING btree (job_id, batch_id) WHERE ((status = ANY (ARRAY[0, 1])) AND (NOT staged));

CREATE INDEX job_of_status ON public.job USING btree (partner_id, kind, status, id DESC) WHERE (kind <> 'audience'::text);

CREATE INDEX job_open ON public.job USING btree (partner_id, seq) WHERE (status = ANY (ARRAY[0, 1]));

CREATE INDEX job_to_clean ON public.job USING btree (partner_id, id) WHERE (cancelled AND (cleaned_at IS NULL));

CREATE INDEX job_unlisted ON public.job USING btree (partner_id, id) WHERE ((kind = 'audience'::text) AND (listed_at IS NULL));

CREATE INDEX load_account_job ON public.load_account USING btree (job_id);

CREATE INDEX partner_removal_name ON public.partner_removal USING btree (name);

CREATE INDEX reject_export_file ON public.reject_export USING btree (job_file_id);

CREATE INDEX reject_export_partner ON public.reject_export USING btree (partner_id);

CREATE INDEX reject_file_file ON public.reject_file USING btree (job_file_id);

CREATE INDEX repair_load_job ON public.repair_load USING btree (job_id);

CREATE INDEX report_draw_partner ON public.report_draw USING btree (partner_id, drawn_at);

CREATE INDEX report_request_partner ON public.report_request USING btree (partner_id, requested_at);

CREATE INDEX storage_key_expiring ON public.storage_key USING btree (expires_at);

CREATE INDEX subscription_object_current ON public.subscription_object USING btree (subscription_id, key) WHERE (gone_at IS NULL);

CREATE INDEX subscription_object_gone ON public.subscription_object USING btree (gone_at) WHERE (gone_at IS NOT NULL);

CREATE INDEX subscription_object_job ON public.subscription_object USING btree (job_id) WHERE (job_id IS NOT NULL);

CREATE INDEX subscription_object_newest ON public.subscription_object USING btree (subscription_id, id);

CREATE INDEX subscription_object_state ON public.subscription_object USING btree (subscription_id, state, id);

CREATE INDEX subscription_partner ON public.subscription USING btree (partner_id, id);

CREATE INDEX subscription_state_due ON public.subscription_state USING btree (next_listing_at) WHERE is_active;

CREATE INDEX subscription_state_partner ON public.subscription_state USING btree (partner_id);

CREATE INDEX subscription_state_woken ON public.subscription_state USING btree (claimed_at) WHERE (is_active AND (woken_at IS NOT NULL));

CREATE INDEX upload_expired ON public.upload USING btree (expires_at);

CREATE INDEX upload_of_customer ON public.upload USING btree (customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX upload_open ON public.upload USING btree (partner_id, expires_at) WHERE (ended_at IS NULL);

CREATE INDEX user_token_of ON public.user_token USING btree (partner_id, id);

CREATE INDEX user_token_of_customer ON public.user_token USING btree (customer_id, id);

CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (webhook_id, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX webhook_delivery_updated ON public.webhook_delivery USING btree (updated_at);

CREATE INDEX webhook_partner ON public.webhook USING btree (partner_id, id);

CREATE INDEX webhook_secret_webhook ON public.webhook_secret USING btree (webhook_id);

CREATE TRIGGER audit_changed AFTER UPDATE ON public.api_key FOR EACH ROW WHEN (((to_jsonb(old.*) - '{next_seq,purge_after,last_used_at}'::text[]) IS DISTINCT FROM (to_jsonb(new.*) - '{next_seq,purge_after,last_used_at}'::text[]))) EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_changed AFTER UPDATE ON public.attribute FOR EACH ROW WHEN (((to_jsonb(old.*) - '{next_seq,purge_after,last_used_at}'::text[]) IS DISTINCT FROM (to_jsonb(new.*) - '{next_seq,purge_after,last_used_at}'::text[]))) EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_changed AFTER UPDATE OF name, deleted_at ON public.audience FOR EACH ROW WHEN (((old.name <> new.name) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION public.audit_audience();

CREATE TRIGGER audit_changed AFTER UPDATE OF dismissed_at ON public.audience_load FOR EACH ROW WHEN (((old.dismissed_at IS NULL) AND (new.dismissed_at IS NOT NULL))) EXECUTE FUNCTION public.audit_audience();

CREATE TRIGGER audit_changed AFTER UPDATE ON public.customer FOR EACH ROW WHEN (((to_jsonb(old.*) - '{next_seq,purge_after,last_used_at}'::text[]) IS DISTINCT FROM (to_jsonb(new.*) - '{next_seq,purge_after,last_used_at}'::text[]))) EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_changed AFTER UPDATE OF cancel_requested_at ON public.job FOR EACH ROW WHEN ((NULLIF(current_setting('inlet.actor'::text, true), ''::text) IS NOT NULL)) EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_changed AFTER UPDATE OF dismissed_at ON public.job_file FOR EACH ROW WHEN (((old.dismissed_at IS NULL) AND (new.dismissed_at IS NOT NULL))) EXECUTE FUNCTION public.audit_audience();

CREATE TRIGGER audit_changed AFTER UPDATE ON public.partner FOR EACH ROW WHEN (((to_jsonb(old.*) - '{next_seq,purge_after,last_used_at}'::text[]) IS DISTINCT FROM (to_jsonb(new.*) - '{next_seq,purge_after,last_used_at}'::text[]))) EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_changed AFTER UPDATE ON public.storage_key FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_changed AFTER UPDATE ON public.subscription FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_changed AFTER UPDATE ON public.user_token FOR EACH ROW WHEN (((to_jsonb(old.*) - '{next_seq,purge_after,last_used_at}'::text[]) IS DISTINCT FROM (to_jsonb(new.*) - '{next_seq,purge_after,last_used_at}'::text[]))) EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_changed AFTER UPDATE ON public.webhook FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.api_key FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.attribute FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.attribute_foreign_key FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.console_session FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.customer FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.erasure FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.partner FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.storage_key FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.subscription FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.user_token FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_emptied AFTER TRUNCATE ON public.webhook FOR EACH STATEMENT EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_log_is_only_added_to BEFORE UPDATE OR TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION public.audit_refuse();

CREATE TRIGGER audit_log_keeps_recent BEFORE DELETE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION public.audit_refuse_recent();

CREATE TRIGGER audit_made AFTER INSERT OR DELETE ON public.api_key FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT OR DELETE ON public.attribute FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT ON public.console_session FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT OR DELETE ON public.customer FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT OR DELETE ON public.erasure FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT ON public.job FOR EACH ROW WHEN ((NULLIF(current_setting('inlet.actor'::text, true), ''::text) IS NOT NULL)) EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT OR DELETE ON public.partner FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT OR DELETE ON public.storage_key FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT OR DELETE ON public.subscription FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT OR DELETE ON public.user_token FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT OR DELETE ON public.webhook FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_made AFTER INSERT ON public.webhook_secret FOR EACH ROW EXECUTE FUNCTION public.audit_change();

CREATE TRIGGER audit_moved AFTER UPDATE ON public.attribute_foreign_key REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.audit_foreign_keys();

CREATE TRIGGER audit_tied AFTER INSERT ON public.attribute_foreign_key REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.audit_foreign_keys();

CREATE TRIGGER audit_untied AFTER DELETE ON public.attribute_foreign_key REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.audit_foreign_keys();

CREATE TRIGGER credential_stays_ended BEFORE UPDATE OF revoked_at, expires_at ON public.api_key FOR EACH ROW EXECUTE FUNCTION public.keep_credential_ended();

CREATE TRIGGER credential_stays_ended BEFORE UPDATE OF revoked_at ON public.user_token FOR EACH ROW EXECUTE FUNCTION public.keep_credential_ended();

CREATE TRIGGER keep_given AFTER INSERT ON public.job_file REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION public.keep_given_files();

CREATE TRIGGER note_index_change AFTER INSERT OR UPDATE OF generation, last_load_id ON public.audience FOR EACH ROW WHEN ((new.last_load_id IS NOT NULL)) EXECUTE FUNCTION public.note_audience_change();

CREATE TRIGGER note_index_change AFTER UPDATE OF status ON public.job FOR EACH ROW WHEN (((old.status = ANY (ARRAY[0, 1])) AND (new.status = ANY (ARRAY[2, 3])) AND (new.kind = ANY (ARRAY['import'::text, 'delete'::text])))) EXECUTE FUNCTION public.note_job_change();

CREATE TRIGGER note_index_change AFTER DELETE ON public.repair_load FOR EACH ROW EXECUTE FUNCTION public.note_repair();

CREATE TRIGGER notify_appended AFTER INSERT ON public.event REFERENCING NEW TABLE AS appended FOR EACH STATEMENT EXECUTE FUNCTION public.notify_event();

CREATE TRIGGER notify_finished AFTER DELETE ON public.report_request FOR EACH ROW EXECUTE FUNCTION public.notify_finished_report();

CREATE TRIGGER notify_requested AFTER INSERT ON public.report_request FOR EACH ROW EXECUTE FUNCTION public.notify_requested_report();

CREATE TRIGGER notify_requested_again AFTER UPDATE OF state ON public.report_request FOR EACH ROW WHEN ((new.state IS DISTINCT FROM old.state)) EXECUTE FUNCTION public.notify_requested_report();

CREATE TRIGGER refuse_deleted_audience BEFORE INSERT ON public.audience_load FOR EACH ROW EXECUTE FUNCTION public.refuse_deleted_audience();

CREATE TRIGGER tell_of_audience AFTER UPDATE OF updated_at ON public.audience FOR EACH ROW EXECUTE FUNCTION public.tell_of_change();

CREATE TRIGGER tell_of_claim AFTER UPDATE OF load_id ON public.job_file FOR EACH ROW WHEN (((new.audience_id IS NOT NULL) AND (new.load_id IS DISTINCT FROM old.load_id))) EXECUTE FUNCTION public.tell_of_change();

CREATE TRIGGER tell_of_job AFTER UPDATE OF updated_at ON public.job FOR EACH ROW EXECUTE FUNCTION public.tell_of_change();

ALTER TABLE ONLY public.accepted_request
    ADD CONSTRAINT accepted_request_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.attribute_foreign_key
    ADD CONSTRAINT attribute_foreign_key_attribute_id_fkey FOREIGN KEY (attribute_id) REFERENCES public.attribute(id);

ALTER TABLE ONLY public.attribute_foreign_key
    ADD CONSTRAINT attribute_foreign_key_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.attribute
    ADD CONSTRAINT attribute_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.audience
    ADD CONSTRAINT audience_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.audience_load
    ADD CONSTRAINT audience_load_audience_id_fkey FOREIGN KEY (audience_id) REFERENCES public.audience(id);

ALTER TABLE ONLY public.audience_load
    ADD CONSTRAINT audience_load_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.job(id);

ALTER TABLE ONLY public.audience_load
    ADD CONSTRAINT audience_load_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.audience
    ADD CONSTRAINT audience_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.composition
    ADD CONSTRAINT composition_audience_id_fkey FOREIGN KEY (audience_id) REFERENCES public.audience(id);

ALTER TABLE ONLY public.console_link
    ADD CONSTRAINT console_link_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_key(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.console_link
    ADD CONSTRAINT console_link_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.console_link
    ADD CONSTRAINT console_link_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.console_link
    ADD CONSTRAINT console_link_user_token_id_fkey FOREIGN KEY (user_token_id) REFERENCES public.user_token(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.console_session
    ADD CONSTRAINT console_session_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_key(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.console_session
    ADD CONSTRAINT console_session_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.console_session
    ADD CONSTRAINT console_session_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.console_session
    ADD CONSTRAINT console_session_user_token_id_fkey FOREIGN KEY (user_token_id) REFERENCES public.user_token(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.dead_generation
    ADD CONSTRAINT dead_generation_audience_id_fkey FOREIGN KEY (audience_id) REFERENCES public.audience(id);

ALTER TABLE ONLY public.dead_generation
    ADD CONSTRAINT dead_generation_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.device_retention
    ADD CONSTRAINT device_retention_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.drop_upload
    ADD CONSTRAINT drop_upload_cycle_id_fkey FOREIGN KEY (cycle_id) REFERENCES public.drop_cycle(id);

ALTER TABLE ONLY public.erased_partner
    ADD CONSTRAINT erased_partner_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.erasure
    ADD CONSTRAINT erasure_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.erasure_batch(id);

ALTER TABLE ONLY public.erasure
    ADD CONSTRAINT erasure_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.event_counter
    ADD CONSTRAINT event_counter_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.import_log
    ADD CONSTRAINT import_log_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.job(id);

ALTER TABLE ONLY public.import_log
    ADD CONSTRAINT import_log_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.index_audience
    ADD CONSTRAINT index_audience_audience_id_fkey FOREIGN KEY (audience_id) REFERENCES public.audience(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.index_audience
    ADD CONSTRAINT index_audience_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.job_credential
    ADD CONSTRAINT job_credential_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.job(id);

ALTER TABLE ONLY public.job_file
    ADD CONSTRAINT job_file_audience_id_fkey FOREIGN KEY (audience_id) REFERENCES public.audience(id);

ALTER TABLE ONLY public.job_file
    ADD CONSTRAINT job_file_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.job(id);

ALTER TABLE ONLY public.job_file
    ADD CONSTRAINT job_file_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.job_file_reject
    ADD CONSTRAINT job_file_reject_job_file_id_fkey FOREIGN KEY (job_file_id) REFERENCES public.job_file(id);

ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.load_account
    ADD CONSTRAINT load_account_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.job(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.load_account
    ADD CONSTRAINT load_account_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.overlap
    ADD CONSTRAINT overlap_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.partner_usage
    ADD CONSTRAINT partner_usage_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.reject_export
    ADD CONSTRAINT reject_export_job_file_id_fkey FOREIGN KEY (job_file_id) REFERENCES public.job_file(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.reject_export
    ADD CONSTRAINT reject_export_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.job(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.reject_export
    ADD CONSTRAINT reject_export_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.reject_file
    ADD CONSTRAINT reject_file_export_id_fkey FOREIGN KEY (export_id) REFERENCES public.reject_export(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.reject_file
    ADD CONSTRAINT reject_file_job_file_id_fkey FOREIGN KEY (job_file_id) REFERENCES public.job_file(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.reject_file
    ADD CONSTRAINT reject_file_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.repair_load
    ADD CONSTRAINT repair_load_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.job(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.repair_load
    ADD CONSTRAINT repair_load_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.report_budget
    ADD CONSTRAINT report_budget_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.report_draw
    ADD CONSTRAINT report_draw_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.report_request
    ADD CONSTRAINT report_request_audience_id_fkey FOREIGN KEY (audience_id) REFERENCES public.audience(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.report_request
    ADD CONSTRAINT report_request_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.storage_key
    ADD CONSTRAINT storage_key_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.subscription_object
    ADD CONSTRAINT subscription_object_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.subscription_object
    ADD CONSTRAINT subscription_object_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscription(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.subscription
    ADD CONSTRAINT subscription_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.subscription_state
    ADD CONSTRAINT subscription_state_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.subscription_state
    ADD CONSTRAINT subscription_state_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscription(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.upload
    ADD CONSTRAINT upload_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.upload
    ADD CONSTRAINT upload_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.user_token
    ADD CONSTRAINT user_token_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);

ALTER TABLE ONLY public.user_token
    ADD CONSTRAINT user_token_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhook(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook
    ADD CONSTRAINT webhook_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.webhook_secret
    ADD CONSTRAINT webhook_secret_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.webhook_secret
    ADD CONSTRAINT webhook_secret_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhook(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_state
    ADD CONSTRAINT webhook_state_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(id);

ALTER TABLE ONLY public.webhook_state
    ADD CONSTRAINT webhook_state_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhook(id) ON DELETE CASCADE;

ALTER TABLE public.accepted_request ENABLE ROW LEVEL SECURITY;

CREATE POLICY added ON public.audit_log FOR INSERT WITH CHECK ((event = 'call.denied'::text));

ALTER TABLE public.api_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.attribute ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.attribute_foreign_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audience ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audience_load ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.composition ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.console_link ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.console_session ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.customer ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.dead_generation ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_retention ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.erased_partner ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.erasure ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_counter ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.import_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.index_audience ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.index_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.index_fold ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.job ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.job_credential ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.job_file ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.job_file_reject ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.load_account ENABLE ROW LEVEL SECURITY;

CREATE POLICY of_audience ON public.composition USING ((EXISTS ( SELECT
   FROM public.audience
  WHERE (audience.id = composition.audience_id))));

CREATE POLICY of_customer ON public.audience AS RESTRICTIVE USING (((NOT (customer_id IS DISTINCT FROM public.current_customer())) OR (current_setting('inlet.customer'::text, true) = '*'::text)));

CREATE POLICY of_file ON public.job_file_reject USING ((EXISTS ( SELECT
   FROM public.job_file
  WHERE (job_file.id = job_file_reject.job_file_id))));

CREATE POLICY of_job ON public.job_credential USING ((EXISTS ( SELECT
   FROM public.job
  WHERE (job.id = job_credential.job_id))));

CREATE POLICY of_partner ON public.accepted_request USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.api_key USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.attribute USING ((partner_id = ( SELECT public.current_partner() AS current_partner)));

CREATE POLICY of_partner ON public.attribute_foreign_key USING ((partner_id = ( SELECT public.current_partner() AS current_partner)));

CREATE POLICY of_partner ON public.audience USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.audience_load USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.audit_log USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.console_link USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.console_session USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.customer USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.dead_generation USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.device_retention USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.erased_partner USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.erasure USING (((partner_id = public.current_partner()) AND (public.current_customer() IS NULL)));

CREATE POLICY of_partner ON public.event USING (((partner_id = public.current_partner()) AND ((public.current_customer() IS NULL) OR (customer_id = public.current_customer()))));

CREATE POLICY of_partner ON public.event_counter USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.import_log USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.index_audience USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.index_change USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.index_fold USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.job USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.job_file USING ((partner_id = ( SELECT public.current_partner() AS current_partner)));

CREATE POLICY of_partner ON public.load_account USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.overlap USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.partner USING ((id = public.current_partner()));

CREATE POLICY of_partner ON public.partner_removal USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.partner_usage USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.reject_export USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.reject_file USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.repair_load USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.report_budget USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.report_draw USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.report_request USING (((partner_id = public.current_partner()) AND (EXISTS ( SELECT
   FROM public.audience
  WHERE (audience.id = report_request.audience_id)))));

CREATE POLICY of_partner ON public.request_window USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.storage_key USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.subscription USING (((partner_id = public.current_partner()) AND (public.current_customer() IS NULL)));

CREATE POLICY of_partner ON public.subscription_object USING (((partner_id = public.current_partner()) AND (public.current_customer() IS NULL)));

CREATE POLICY of_partner ON public.subscription_state USING (((partner_id = public.current_partner()) AND (public.current_customer() IS NULL)));

CREATE POLICY of_partner ON public.upload USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.user_token USING ((partner_id = public.current_partner()));

CREATE POLICY of_partner ON public.webhook USING (((partner_id = public.current_partner()) AND (public.current_customer() IS NULL)));

CREATE POLICY of_partner ON public.webhook_delivery USING (((partner_id = public.current_partner()) AND (public.current_customer() IS NULL)));

CREATE POLICY of_partner ON public.webhook_secret USING (((partner_id = public.current_partner()) AND (public.current_customer() IS NULL)));

CREATE POLICY of_partner ON public.webhook_state USING (((partner_id = public.current_partner()) AND (public.current_customer() IS NULL)));

ALTER TABLE public.overlap ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.partner ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.partner_removal ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.partner_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.reject_export ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.reject_file ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.repair_load ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.report_budget ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.report_draw ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.report_request ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.request_window ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.storage_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.subscription ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.subscription_object ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.subscription_state ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.upload ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.user_token ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhook ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_delivery ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_secret ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_state ENABLE ROW LEVEL SECURITY;

REVOKE ALL ON FUNCTION public.attributes_of_all() FROM PUBLIC;
GRANT ALL ON FUNCTION public.attributes_of_all() TO inlet_api;

REVOKE ALL ON FUNCTION public.audience_marks(bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audience_marks(bigint[]) TO inlet_api;

REVOKE ALL ON FUNCTION public.audiences_of(bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audiences_of(bigint) TO inlet_api;

REVOKE ALL ON FUNCTION public.audit_audience() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.console_session_with_hash(bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.console_session_with_hash(bytea) TO inlet_api;

REVOKE ALL ON FUNCTION public.console_subject(partner_name text, customer_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.console_subject(partner_name text, customer_name text) TO inlet_api;

REVOKE ALL ON FUNCTION public.describe_attributes(bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.describe_attributes(bigint[]) TO inlet_api;

REVOKE ALL ON FUNCTION public.drop_waits() FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_waits() TO inlet_api;

REVOKE ALL ON FUNCTION public.end_console_session(bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_console_session(bytea) TO inlet_api;

REVOKE ALL ON FUNCTION public.erasure_waits() FROM PUBLIC;
GRANT ALL ON FUNCTION public.erasure_waits() TO inlet_api;

REVOKE ALL ON FUNCTION public.extend_console_session(bytea, idle_seconds double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION public.extend_console_session(bytea, idle_seconds double precision) TO inlet_api;

REVOKE ALL ON FUNCTION public.find_console_session(bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_console_session(bytea) TO inlet_api;

REVOKE ALL ON FUNCTION public.folds_of_all() FROM PUBLIC;
GRANT ALL ON FUNCTION public.folds_of_all() TO inlet_api;

REVOKE ALL ON FUNCTION public.import_log_marks(bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.import_log_marks(bigint[]) TO inlet_api;

REVOKE ALL ON FUNCTION public.index_waits() FROM PUBLIC;
GRANT ALL ON FUNCTION public.index_waits() TO inlet_api;

REVOKE ALL ON FUNCTION public.key_of_session(session bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.key_of_session(session bigint) TO inlet_api;

GRANT SELECT(id) ON TABLE public.api_key TO inlet_api;

GRANT SELECT(partner_id),INSERT(partner_id) ON TABLE public.api_key TO inlet_api;

GRANT INSERT(key_hash) ON TABLE public.api_key TO inlet_api;

GRANT SELECT(created_at) ON TABLE public.api_key TO inlet_api;

GRANT SELECT(revoked_at),UPDATE(revoked_at) ON TABLE public.api_key TO inlet_api;

GRANT SELECT(name),INSERT(name) ON TABLE public.api_key TO inlet_api;

GRANT SELECT(scopes),INSERT(scopes) ON TABLE public.api_key TO inlet_api;

GRANT SELECT(expires_at),INSERT(expires_at),UPDATE(expires_at) ON TABLE public.api_key TO inlet_api;

GRANT SELECT(last_used_at) ON TABLE public.api_key TO inlet_api;

GRANT SELECT(created_by),INSERT(created_by) ON TABLE public.api_key TO inlet_api;

REVOKE ALL ON FUNCTION public.key_with_hash(bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.key_with_hash(bytea) TO inlet_api;

REVOKE ALL ON FUNCTION public.last_load_id() FROM PUBLIC;
GRANT ALL ON FUNCTION public.last_load_id() TO inlet_api;

REVOKE ALL ON FUNCTION public.names_of_attributes(bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.names_of_attributes(bigint[]) TO inlet_api;

REVOKE ALL ON FUNCTION public.note_key_uses(bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_key_uses(bigint[]) TO inlet_api;

REVOKE ALL ON FUNCTION public.open_console_session(token bytea, role text, subject text, name text, partner bigint, customer bigint, api_key bigint, segment bigint, audience bigint, idle_seconds double precision, seconds double precision, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.open_console_session(token bytea, role text, subject text, name text, partner bigint, customer bigint, api_key bigint, segment bigint, audience bigint, idle_seconds double precision, seconds double precision, at_most integer) TO inlet_api;

REVOKE ALL ON FUNCTION public.open_console_session(token bytea, role text, subject text, name text, partner bigint, customer bigint, api_key bigint, user_token bigint, segment bigint, audience bigint, idle_seconds double precision, seconds double precision, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.open_console_session(token bytea, role text, subject text, name text, partner bigint, customer bigint, api_key bigint, user_token bigint, segment bigint, audience bigint, idle_seconds double precision, seconds double precision, at_most integer) TO inlet_api;

GRANT SELECT ON TABLE public.partner TO inlet_api;

GRANT UPDATE(next_seq) ON TABLE public.partner TO inlet_api;

REVOKE ALL ON FUNCTION public.partner_with_key(bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.partner_with_key(bytea) TO inlet_api;

REVOKE ALL ON FUNCTION public.recorded_shards() FROM PUBLIC;
GRANT ALL ON FUNCTION public.recorded_shards() TO inlet_api;

REVOKE ALL ON FUNCTION public.redeem_console_link(bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.redeem_console_link(bytea) TO inlet_api;

REVOKE ALL ON FUNCTION public.remove_customer(customer bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.remove_customer(customer bigint) TO inlet_api;

REVOKE ALL ON FUNCTION public.remove_records_of_deleted(partner bigint, audience bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.remove_records_of_deleted(partner bigint, audience bigint) TO inlet_api;

REVOKE ALL ON FUNCTION public.report_waits() FROM PUBLIC;
GRANT ALL ON FUNCTION public.report_waits() TO inlet_api;

REVOKE ALL ON FUNCTION public.subscription_waits() FROM PUBLIC;
GRANT ALL ON FUNCTION public.subscription_waits() TO inlet_api;

REVOKE ALL ON FUNCTION public.untie_foreign_keys(attribute bigint, keys text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.untie_foreign_keys(attribute bigint, keys text[]) TO inlet_api;

REVOKE ALL ON FUNCTION public.use_console_link(bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.use_console_link(bytea) TO inlet_api;

REVOKE ALL ON FUNCTION public.webhook_waits() FROM PUBLIC;
GRANT ALL ON FUNCTION public.webhook_waits() TO inlet_api;

REVOKE ALL ON FUNCTION public.what_waits(lane_queue text, file_queue text, workers_are_named text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.what_waits(lane_queue text, file_queue text, workers_are_named text) TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.accepted_request TO inlet_api;

GRANT UPDATE(fingerprint) ON TABLE public.accepted_request TO inlet_api;

GRANT UPDATE(result) ON TABLE public.accepted_request TO inlet_api;

GRANT UPDATE(accepted_at) ON TABLE public.accepted_request TO inlet_api;

GRANT SELECT ON TABLE public.attribute TO inlet_api;

GRANT INSERT(partner_id) ON TABLE public.attribute TO inlet_api;

GRANT INSERT(name),UPDATE(name) ON TABLE public.attribute TO inlet_api;

GRANT UPDATE(retired_at) ON TABLE public.attribute TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.attribute_foreign_key TO inlet_api;

GRANT UPDATE(attribute_id) ON TABLE public.attribute_foreign_key TO inlet_api;

GRANT USAGE ON SEQUENCE public.warehouse_segment_id TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.audience TO inlet_api;

GRANT UPDATE(name) ON TABLE public.audience TO inlet_api;

GRANT UPDATE(generation) ON TABLE public.audience TO inlet_api;

GRANT UPDATE(uploaded_devices) ON TABLE public.audience TO inlet_api;

GRANT UPDATE(unique_devices) ON TABLE public.audience TO inlet_api;

GRANT UPDATE(matched_devices) ON TABLE public.audience TO inlet_api;

GRANT UPDATE(last_load_id) ON TABLE public.audience TO inlet_api;

GRANT UPDATE(updated_at) ON TABLE public.audience TO inlet_api;

GRANT UPDATE(matched_at) ON TABLE public.audience TO inlet_api;

GRANT UPDATE(deleted_at) ON TABLE public.audience TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.audience_load TO inlet_api;

GRANT UPDATE(superseded) ON TABLE public.audience_load TO inlet_api;

GRANT UPDATE(dismissed_at) ON TABLE public.audience_load TO inlet_api;

GRANT UPDATE(dismissed_by) ON TABLE public.audience_load TO inlet_api;

GRANT INSERT ON TABLE public.audit_log TO inlet_api;

GRANT SELECT ON TABLE public.composition TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.console_link TO inlet_api;

GRANT SELECT ON TABLE public.customer TO inlet_api;

GRANT INSERT(partner_id) ON TABLE public.customer TO inlet_api;

GRANT INSERT(name),UPDATE(name) ON TABLE public.customer TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.dead_generation TO inlet_api;

GRANT SELECT(id) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(partner_id),INSERT(partner_id) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(batch_id) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(status) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(requested_by),INSERT(requested_by) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(object_key),INSERT(object_key) ON TABLE public.erasure TO inlet_api;

GRANT INSERT(key_id) ON TABLE public.erasure TO inlet_api;

GRANT INSERT(sealed) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(ids),INSERT(ids) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(invalid_lines) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(ids_digest),INSERT(ids_digest) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(ids_salt),INSERT(ids_salt) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(waiting_for) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(failure_code) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(failure_detail) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(proof) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(proof_csv) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(requested_at) ON TABLE public.erasure TO inlet_api;

GRANT SELECT(finished_at) ON TABLE public.erasure TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.event TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.event_counter TO inlet_api;

GRANT UPDATE(last_sequence) ON TABLE public.event_counter TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.import_log TO inlet_api;

GRANT SELECT ON TABLE public.index_audience TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.job TO inlet_api;

GRANT UPDATE(status) ON TABLE public.job TO inlet_api;

GRANT UPDATE(cancelled) ON TABLE public.job TO inlet_api;

GRANT UPDATE(updated_at) ON TABLE public.job TO inlet_api;

GRANT UPDATE(finished_at) ON TABLE public.job TO inlet_api;

GRANT UPDATE(cleaned_at) ON TABLE public.job TO inlet_api;

GRANT UPDATE(cancel_requested_at) ON TABLE public.job TO inlet_api;

GRANT UPDATE(cancel_requested_by) ON TABLE public.job TO inlet_api;

GRANT UPDATE(canceled_by) ON TABLE public.job TO inlet_api;

GRANT INSERT ON TABLE public.job_credential TO inlet_api;

GRANT SELECT ON TABLE public.job_file TO inlet_api;

GRANT UPDATE(status) ON TABLE public.job_file TO inlet_api;

GRANT UPDATE(failure_code) ON TABLE public.job_file TO inlet_api;

GRANT UPDATE(failure_detail) ON TABLE public.job_file TO inlet_api;

GRANT UPDATE(updated_at) ON TABLE public.job_file TO inlet_api;

GRANT UPDATE(dismissed_at) ON TABLE public.job_file TO inlet_api;

GRANT UPDATE(dismissed_by) ON TABLE public.job_file TO inlet_api;

GRANT SELECT ON TABLE public.job_file_reject TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.overlap TO inlet_api;

GRANT SELECT ON TABLE public.partner_usage TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.reject_export TO inlet_api;

GRANT UPDATE(status) ON TABLE public.reject_export TO inlet_api;

GRANT UPDATE(earlier_attempts) ON TABLE public.reject_export TO inlet_api;

GRANT UPDATE(requested_at) ON TABLE public.reject_export TO inlet_api;

GRANT UPDATE(started_at) ON TABLE public.reject_export TO inlet_api;

GRANT UPDATE(finished_at) ON TABLE public.reject_export TO inlet_api;

GRANT UPDATE(expires_at) ON TABLE public.reject_export TO inlet_api;

GRANT UPDATE(failure_code) ON TABLE public.reject_export TO inlet_api;

GRANT UPDATE(failure_detail) ON TABLE public.reject_export TO inlet_api;

GRANT SELECT ON TABLE public.reject_file TO inlet_api;

GRANT UPDATE(status) ON TABLE public.reject_file TO inlet_api;

GRANT UPDATE(bytes_read) ON TABLE public.reject_file TO inlet_api;

GRANT UPDATE(failure_code) ON TABLE public.reject_file TO inlet_api;

GRANT UPDATE(failure_detail) ON TABLE public.reject_file TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.report_draw TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.report_request TO inlet_api;

GRANT UPDATE(state) ON TABLE public.report_request TO inlet_api;

GRANT UPDATE(requested_at) ON TABLE public.report_request TO inlet_api;

GRANT UPDATE(retry_at) ON TABLE public.report_request TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.request_window TO inlet_api;

GRANT UPDATE(number) ON TABLE public.request_window TO inlet_api;

GRANT UPDATE(taken) ON TABLE public.request_window TO inlet_api;

GRANT SELECT ON TABLE public.storage_key TO inlet_api;

GRANT INSERT(partner_id) ON TABLE public.storage_key TO inlet_api;

GRANT INSERT(access_key_id) ON TABLE public.storage_key TO inlet_api;

GRANT INSERT(created_by) ON TABLE public.storage_key TO inlet_api;

GRANT INSERT(expires_at),UPDATE(expires_at) ON TABLE public.storage_key TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.subscription TO inlet_api;

GRANT UPDATE(key_type) ON TABLE public.subscription TO inlet_api;

GRANT UPDATE(compressed) ON TABLE public.subscription TO inlet_api;

GRANT UPDATE(quiet_seconds) ON TABLE public.subscription TO inlet_api;

GRANT UPDATE(marker) ON TABLE public.subscription TO inlet_api;

GRANT UPDATE(every_seconds) ON TABLE public.subscription TO inlet_api;

GRANT UPDATE(daily_at) ON TABLE public.subscription TO inlet_api;

GRANT UPDATE(updated_at) ON TABLE public.subscription TO inlet_api;

GRANT UPDATE(paused_at) ON TABLE public.subscription TO inlet_api;

GRANT UPDATE(deleted_at) ON TABLE public.subscription TO inlet_api;

GRANT SELECT ON TABLE public.subscription_object TO inlet_api;

GRANT UPDATE(state) ON TABLE public.subscription_object TO inlet_api;

GRANT UPDATE(job_id) ON TABLE public.subscription_object TO inlet_api;

GRANT UPDATE(error_code) ON TABLE public.subscription_object TO inlet_api;

GRANT UPDATE(updated_at) ON TABLE public.subscription_object TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.subscription_state TO inlet_api;

GRANT UPDATE(is_active) ON TABLE public.subscription_state TO inlet_api;

GRANT UPDATE(claim) ON TABLE public.subscription_state TO inlet_api;

GRANT UPDATE(claimed_until) ON TABLE public.subscription_state TO inlet_api;

GRANT UPDATE(next_listing_at) ON TABLE public.subscription_state TO inlet_api;

GRANT UPDATE(next_import_at) ON TABLE public.subscription_state TO inlet_api;

GRANT UPDATE(waits_for) ON TABLE public.subscription_state TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.upload TO inlet_api;

GRANT UPDATE(ended_at) ON TABLE public.upload TO inlet_api;

GRANT SELECT ON TABLE public.user_token TO inlet_api;

GRANT INSERT(partner_id) ON TABLE public.user_token TO inlet_api;

GRANT INSERT(customer_id) ON TABLE public.user_token TO inlet_api;

GRANT INSERT(token_hash) ON TABLE public.user_token TO inlet_api;

GRANT UPDATE(revoked_at) ON TABLE public.user_token TO inlet_api;

GRANT INSERT(created_by) ON TABLE public.user_token TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.webhook TO inlet_api;

GRANT UPDATE(url) ON TABLE public.webhook TO inlet_api;

GRANT UPDATE(description) ON TABLE public.webhook TO inlet_api;

GRANT UPDATE(event_types) ON TABLE public.webhook TO inlet_api;

GRANT UPDATE(updated_at) ON TABLE public.webhook TO inlet_api;

GRANT UPDATE(rotated_at) ON TABLE public.webhook TO inlet_api;

GRANT UPDATE(deleted_at) ON TABLE public.webhook TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.webhook_delivery TO inlet_api;

GRANT UPDATE(tries) ON TABLE public.webhook_delivery TO inlet_api;

GRANT UPDATE(is_replay) ON TABLE public.webhook_delivery TO inlet_api;

GRANT UPDATE(next_attempt_at) ON TABLE public.webhook_delivery TO inlet_api;

GRANT UPDATE(updated_at) ON TABLE public.webhook_delivery TO inlet_api;

GRANT INSERT ON TABLE public.webhook_secret TO inlet_api;

GRANT SELECT,INSERT ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(replay_position) ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(replay_until) ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(claim) ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(claimed_until) ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(paused_until) ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(failures_in_a_row) ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(failing_since) ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(warned_at) ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(disabled_at) ON TABLE public.webhook_state TO inlet_api;

GRANT UPDATE(disabled_reason) ON TABLE public.webhook_state TO inlet_api;
