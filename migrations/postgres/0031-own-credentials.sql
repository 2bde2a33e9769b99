-- Partners manage their attributes, API keys, customers, and user tokens through the API.

-- A key without a list of scopes has every scope, and this release adds scopes that manage credentials. Existing keys keep the
-- permissions that they had.
UPDATE api_key SET scopes = ARRAY['marketplace:read', 'marketplace:write', 'audience:read', 'audience:write']
WHERE scopes IS NULL;

-- The key or session that created the row. Null if an operator created it.
ALTER TABLE api_key ADD COLUMN IF NOT EXISTS created_by text;
ALTER TABLE user_token ADD COLUMN IF NOT EXISTS created_by text;

-- Keys of a partner's storage user that a rotation has created or replaced. The storage itself has the secrets. A key without a row
-- was created with the partner. Workers remove expired keys from the storage, and then their rows.
CREATE TABLE IF NOT EXISTS storage_key (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id bigint NOT NULL REFERENCES partner (id),
  access_key_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text,
  expires_at timestamptz,
  UNIQUE (partner_id, access_key_id)
);
CREATE INDEX IF NOT EXISTS storage_key_expiring ON storage_key (expires_at);
ALTER TABLE storage_key ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON storage_key;
CREATE POLICY of_partner ON storage_key USING (partner_id = current_partner());
CREATE OR REPLACE TRIGGER audit_made AFTER INSERT OR DELETE ON storage_key
  FOR EACH ROW EXECUTE FUNCTION audit_change();
CREATE OR REPLACE TRIGGER audit_changed AFTER UPDATE ON storage_key
  FOR EACH ROW EXECUTE FUNCTION audit_change();
CREATE OR REPLACE TRIGGER audit_emptied AFTER TRUNCATE ON storage_key
  FOR EACH STATEMENT EXECUTE FUNCTION audit_change();

-- A revoked key or token never works again, and no key works longer than announced. This also binds statements that are sent
-- to the database with the rights of the API.
CREATE OR REPLACE FUNCTION keep_credential_ended() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE OR REPLACE TRIGGER credential_stays_ended BEFORE UPDATE OF revoked_at, expires_at ON api_key
  FOR EACH ROW EXECUTE FUNCTION keep_credential_ended();
CREATE OR REPLACE TRIGGER credential_stays_ended BEFORE UPDATE OF revoked_at ON user_token
  FOR EACH ROW EXECUTE FUNCTION keep_credential_ended();

-- The role of the API cannot delete rows. These functions delete rows of the current partner only.

CREATE OR REPLACE FUNCTION untie_foreign_keys(attribute bigint, keys text[]) RETURNS bigint
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH untied AS (
    DELETE FROM public.attribute_foreign_key
    WHERE partner_id = public.current_partner() AND attribute_id = $1 AND foreign_key = ANY ($2)
    RETURNING 1)
  SELECT count(*) FROM untied
$$;

-- Removes a customer without audiences, with its tokens, sessions, and links. Its events become events of the partner. Returns
-- null if the partner has no such customer, and false if other rows refer to it.
CREATE OR REPLACE FUNCTION remove_customer(customer bigint) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM FROM public.customer c WHERE c.id = $1 AND c.partner_id = public.current_partner() FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF EXISTS (SELECT FROM public.audience a WHERE a.customer_id = $1) THEN RETURN false; END IF;
  DELETE FROM public.user_token t WHERE t.customer_id = $1;
  UPDATE public.event e SET customer_id = NULL WHERE e.customer_id = $1;
  DELETE FROM public.customer c WHERE c.id = $1;
  RETURN true;
EXCEPTION WHEN foreign_key_violation THEN
  RETURN false;
END $$;

-- The API key from which a session of the current partner was created. Null if the user signed in at the issuer. Returns no row for
-- a session that has ended.
CREATE OR REPLACE FUNCTION key_of_session(session bigint) RETURNS SETOF bigint
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT api_key_id FROM public.console_session WHERE id = $1 AND partner_id = public.current_partner()';
