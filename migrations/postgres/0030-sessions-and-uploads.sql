-- A session, or a one-time link, that was created with a user token ends when the token is revoked. Null for sessions without a user
-- token, and for tokens of the issuer, which Inlet does not store.
ALTER TABLE console_session ADD COLUMN IF NOT EXISTS user_token_id bigint REFERENCES user_token (id) ON DELETE CASCADE;
ALTER TABLE console_link ADD COLUMN IF NOT EXISTS user_token_id bigint REFERENCES user_token (id) ON DELETE CASCADE;

-- Like console_session_with_hash, which the previous release calls. `window_id` is the same for all sessions of a subject and identifies
-- their request window in request_window. It is negative, because positive IDs there belong to API keys, and it is exact as a double.
CREATE OR REPLACE FUNCTION find_console_session(bytea) RETURNS TABLE (
  id bigint, role text, name text, segment_id bigint, audience_id bigint, expires_at timestamptz, idle_expires_at timestamptz,
  partner_id bigint, partner_name text, partner_prefix text, customer_id bigint, customer_name text, key_scopes text[], window_id bigint)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT s.id, s.role, s.name, s.segment_id, s.audience_id, s.expires_at, s.idle_expires_at,
    p.id, p.name, p.prefix, c.id, c.name, k.scopes, -1 - (hashtextextended(s.subject, 0) & 4503599627370495)
  FROM public.console_session s
  LEFT JOIN public.partner p ON p.id = s.partner_id
  LEFT JOIN public.customer c ON c.id = s.customer_id
  LEFT JOIN public.api_key k ON k.id = s.api_key_id
  LEFT JOIN public.user_token t ON t.id = s.user_token_id
  WHERE s.token_hash = $1 AND now() < least(s.expires_at, s.idle_expires_at)
    AND (s.api_key_id IS NULL OR (k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)))
    AND t.revoked_at IS NULL
$$;

-- Like the function with 12 parameters, which the previous release calls.
CREATE OR REPLACE FUNCTION open_console_session(
  token bytea, role text, subject text, name text, partner bigint, customer bigint, api_key bigint, user_token bigint, segment bigint,
  audience bigint, idle_seconds double precision, seconds double precision, at_most integer) RETURNS timestamptz
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  DELETE FROM public.console_session WHERE id IN (
    SELECT s.id FROM public.console_session s WHERE s.subject = $3 AND s.partner_id IS NOT DISTINCT FROM $5
    ORDER BY s.id DESC OFFSET greatest(0, $13 - 1));
  INSERT INTO public.console_session (
    token_hash, role, subject, name, partner_id, customer_id, api_key_id, user_token_id, segment_id, audience_id, expires_at,
    idle_expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + make_interval(secs => $12),
    now() + make_interval(secs => least($11, $12)))
  RETURNING expires_at;
$$;

-- Like use_console_link, which the previous release calls. A link whose user token was revoked does not work, and is used up.
CREATE OR REPLACE FUNCTION redeem_console_link(bytea) RETURNS TABLE (
  partner_id bigint, partner_name text, partner_prefix text, customer_id bigint, customer_name text, api_key_id bigint,
  user_token_id bigint, segment_id bigint, audience_id bigint)
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH used AS (
    UPDATE public.console_link SET used_at = now()
    WHERE token_hash = $1 AND used_at IS NULL AND now() < expires_at
    RETURNING *)
  SELECT p.id, p.name, p.prefix, c.id, c.name, k.id, used.user_token_id, used.segment_id, used.audience_id
  FROM used
  JOIN public.partner p ON p.id = used.partner_id
  JOIN public.api_key k ON k.id = used.api_key_id AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)
  LEFT JOIN public.customer c ON c.id = used.customer_id
  LEFT JOIN public.user_token t ON t.id = used.user_token_id
  WHERE t.revoked_at IS NULL
$$;

-- Uploads over HTTP. The storage does not say who has started an upload, and partners also upload with their own credentials, so Inlet
-- records its own. Workers abort expired uploads and delete the rows of those that have ended.
CREATE TABLE IF NOT EXISTS upload (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id bigint NOT NULL REFERENCES partner (id) ON DELETE CASCADE,
  object_key text NOT NULL,
  -- The storage's ID of the upload.
  storage_id text NOT NULL,
  expires_at timestamptz NOT NULL,
  -- When the upload was completed or aborted.
  ended_at timestamptz,
  UNIQUE (partner_id, storage_id)
);
CREATE INDEX IF NOT EXISTS upload_open ON upload (partner_id, expires_at) WHERE ended_at IS NULL;
CREATE INDEX IF NOT EXISTS upload_expired ON upload (expires_at);
ALTER TABLE upload ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON upload;
CREATE POLICY of_partner ON upload USING (partner_id = current_partner());
