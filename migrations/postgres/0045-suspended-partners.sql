-- A suspended partner keeps its data. Its keys are rejected, its sessions end, and no job of its lane starts.
ALTER TABLE partner ADD COLUMN IF NOT EXISTS suspended_at timestamptz;

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
