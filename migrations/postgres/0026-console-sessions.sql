-- Sessions of the console. Only hashes of the random tokens are stored. A session without a partner belongs to an operator. A session ends
-- when it expires, is idle for too long, or when the API key ends from which it was created. Workers delete expired sessions.
CREATE TABLE IF NOT EXISTS console_session (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  role text NOT NULL CHECK (role IN ('partner', 'customer', 'link', 'operator')),
  -- Who signed in. The number of sessions per subject is limited.
  subject text NOT NULL,
  name text NOT NULL,
  partner_id bigint REFERENCES partner (id) ON DELETE CASCADE,
  customer_id bigint REFERENCES customer (id) ON DELETE CASCADE,
  api_key_id bigint REFERENCES api_key (id) ON DELETE CASCADE,
  -- A session with role `link` can read only this audience.
  segment_id bigint,
  audience_id bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  idle_expires_at timestamptz NOT NULL,
  CHECK ((role = 'operator') = (partner_id IS NULL)),
  CHECK (role <> 'customer' OR customer_id IS NOT NULL),
  CHECK ((role = 'link') = (segment_id IS NOT NULL AND audience_id IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS console_session_subject ON console_session (subject, id);
CREATE INDEX IF NOT EXISTS console_session_idle ON console_session (idle_expires_at);
ALTER TABLE console_session ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON console_session;
CREATE POLICY of_partner ON console_session USING (partner_id = current_partner());
-- Records every sign-in.
CREATE OR REPLACE TRIGGER audit_made AFTER INSERT ON console_session
  FOR EACH ROW EXECUTE FUNCTION audit_change();
CREATE OR REPLACE TRIGGER audit_emptied AFTER TRUNCATE ON console_session
  FOR EACH STATEMENT EXECUTE FUNCTION audit_change();

-- One-time links to the report of one audience.
CREATE TABLE IF NOT EXISTS console_link (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  partner_id bigint NOT NULL REFERENCES partner (id) ON DELETE CASCADE,
  customer_id bigint REFERENCES customer (id) ON DELETE CASCADE,
  api_key_id bigint NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
  segment_id bigint NOT NULL,
  audience_id bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX IF NOT EXISTS console_link_partner ON console_link (partner_id, expires_at);
CREATE INDEX IF NOT EXISTS console_link_expired ON console_link (expires_at);
ALTER TABLE console_link ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON console_link;
CREATE POLICY of_partner ON console_link USING (partner_id = current_partner());

-- Before authentication, row-level security hides all rows. Each of these functions accesses only the row for one token.

CREATE OR REPLACE FUNCTION console_session_with_hash(bytea) RETURNS TABLE (
  id bigint, role text, name text, segment_id bigint, audience_id bigint, expires_at timestamptz, idle_expires_at timestamptz,
  partner_id bigint, partner_name text, partner_prefix text, customer_id bigint, customer_name text, key_scopes text[])
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT s.id, s.role, s.name, s.segment_id, s.audience_id, s.expires_at, s.idle_expires_at,
    p.id, p.name, p.prefix, c.id, c.name, k.scopes
  FROM public.console_session s
  LEFT JOIN public.partner p ON p.id = s.partner_id
  LEFT JOIN public.customer c ON c.id = s.customer_id
  LEFT JOIN public.api_key k ON k.id = s.api_key_id
  WHERE s.token_hash = $1 AND now() < least(s.expires_at, s.idle_expires_at)
    AND (s.api_key_id IS NULL OR (k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)))
$$;

-- Returns when the session expires. Deletes the subject's oldest sessions beyond `at_most`.
CREATE OR REPLACE FUNCTION open_console_session(
  token bytea, role text, subject text, name text, partner bigint, customer bigint, api_key bigint, segment bigint, audience bigint,
  idle_seconds double precision, seconds double precision, at_most integer) RETURNS timestamptz
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  DELETE FROM public.console_session WHERE id IN (
    SELECT s.id FROM public.console_session s WHERE s.subject = $3 AND s.partner_id IS NOT DISTINCT FROM $5
    ORDER BY s.id DESC OFFSET greatest(0, $12 - 1));
  INSERT INTO public.console_session (
    token_hash, role, subject, name, partner_id, customer_id, api_key_id, segment_id, audience_id, expires_at, idle_expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $11),
    now() + make_interval(secs => least($10, $11)))
  RETURNING expires_at;
$$;

CREATE OR REPLACE FUNCTION extend_console_session(bytea, idle_seconds double precision) RETURNS void
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE public.console_session SET idle_expires_at = least(expires_at, now() + make_interval(secs => $2))
  WHERE token_hash = $1 AND now() < idle_expires_at
$$;

CREATE OR REPLACE FUNCTION end_console_session(bytea) RETURNS void
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'DELETE FROM public.console_session WHERE token_hash = $1';

-- Of concurrent calls with the same token, only one returns a row.
CREATE OR REPLACE FUNCTION use_console_link(bytea) RETURNS TABLE (
  partner_id bigint, partner_name text, partner_prefix text, customer_id bigint, customer_name text, api_key_id bigint,
  segment_id bigint, audience_id bigint)
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH used AS (
    UPDATE public.console_link SET used_at = now()
    WHERE token_hash = $1 AND used_at IS NULL AND now() < expires_at
    RETURNING *)
  SELECT p.id, p.name, p.prefix, c.id, c.name, k.id, used.segment_id, used.audience_id
  FROM used
  JOIN public.partner p ON p.id = used.partner_id
  JOIN public.api_key k ON k.id = used.api_key_id AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)
  LEFT JOIN public.customer c ON c.id = used.customer_id
$$;

-- The partner and customer that the claims of an ID token name.
CREATE OR REPLACE FUNCTION console_subject(partner_name text, customer_name text) RETURNS TABLE (partner_id bigint, customer_id bigint)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT p.id, c.id FROM public.partner p
  LEFT JOIN public.customer c ON c.partner_id = p.id AND c.name = $2
  WHERE p.name = $1
$$;
