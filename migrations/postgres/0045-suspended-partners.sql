-- A suspended partner keeps its data. Its keys are rejected, its sessions end, and no job of its lane starts.
ALTER TABLE partner ADD COLUMN IF NOT EXISTS suspended_at timestamptz;

-- The waiting jobs of a suspended partner are no reason for an alert.
CREATE OR REPLACE FUNCTION what_waits(lane_queue text, file_queue text, workers_are_named text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
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

CREATE OR REPLACE FUNCTION console_subject(partner_name text, customer_name text)
RETURNS TABLE (partner_id bigint, customer_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $_$
  SELECT p.id, c.id FROM public.partner p
  LEFT JOIN public.customer c ON c.partner_id = p.id AND c.name = $2
  WHERE p.name = $1 AND p.suspended_at IS NULL
$_$;

CREATE OR REPLACE FUNCTION find_console_session(bytea)
RETURNS TABLE (id bigint, role text, name text, segment_id bigint, audience_id bigint, expires_at timestamptz,
  idle_expires_at timestamptz, partner_id bigint, partner_name text, partner_prefix text, customer_id bigint,
  customer_name text, key_scopes text[], window_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
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

CREATE OR REPLACE FUNCTION redeem_console_link(bytea)
RETURNS TABLE (partner_id bigint, partner_name text, partner_prefix text, customer_id bigint, customer_name text,
  api_key_id bigint, user_token_id bigint, segment_id bigint, audience_id bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
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
