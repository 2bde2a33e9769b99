-- API keys that have a name, an end and a purpose; and a record of who changed what, and of what was denied.

ALTER TABLE api_key ADD COLUMN IF NOT EXISTS name text NOT NULL DEFAULT '';
-- Null: all of them.
ALTER TABLE api_key ADD COLUMN IF NOT EXISTS scopes text[];
-- Null: it works until it is revoked.
ALTER TABLE api_key ADD COLUMN IF NOT EXISTS expires_at timestamptz;
-- To about a minute.
ALTER TABLE api_key ADD COLUMN IF NOT EXISTS last_used_at timestamptz;
CREATE INDEX IF NOT EXISTS api_key_of ON api_key (partner_id, id);

-- No reference to other tables: what is said here stays, whatever becomes of them.
CREATE TABLE IF NOT EXISTS audit_log (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- `<table>.<insert, update, delete or truncate>`, or `call.denied`.
  event         text NOT NULL,
  -- Who it was as far as is known, and with which user of the database.
  actor         text NOT NULL,
  database_user text NOT NULL DEFAULT session_user,
  partner_id    bigint,
  key_id        bigint,
  -- The row that was changed.
  subject_id    bigint,
  operation     text,
  code          text,
  request_id    text,
  -- Of denied calls: how many this row stands for.
  calls         bigint NOT NULL DEFAULT 1,
  detail        jsonb
);
CREATE INDEX IF NOT EXISTS audit_log_of ON audit_log (partner_id, id DESC);

CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is only added to' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE OR REPLACE TRIGGER audit_log_is_only_added_to BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();

CREATE OR REPLACE FUNCTION audit_actor() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('inlet.actor', true), ''), nullif(current_setting('application_name'), ''), session_user)
$$;

-- Hashes and the like are no secrets, and still nobody's business who reads what was changed.
CREATE OR REPLACE FUNCTION audit_shown(changed jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_object_agg(key, value) FROM jsonb_each(changed)
  WHERE key !~ 'hash|secret|sealed|password|external_id'
$$;

-- With the rights of its owner: whoever may change a row may not by that write here.
CREATE OR REPLACE FUNCTION audit_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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

-- Foreign keys come by the thousand: one row for each attribute that a statement touches, with the first of them.
CREATE OR REPLACE FUNCTION audit_foreign_keys() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit_log (event, actor, partner_id, subject_id, detail)
  SELECT
    TG_TABLE_NAME || '.' || lower(TG_OP), audit_actor(), partner_id, attribute_id,
    jsonb_build_object('count', count(*), 'first', to_jsonb((array_agg(foreign_key ORDER BY foreign_key))[:20]))
  FROM changed GROUP BY partner_id, attribute_id ORDER BY attribute_id;
  RETURN NULL;
END $$;

-- What changes with every job or request is no change of the thing.
DO $$
DECLARE
  of_table text;
  unsaid CONSTANT text := quote_literal('{next_seq,purge_after,last_used_at}') || '::text[]';
BEGIN
  FOREACH of_table IN ARRAY ARRAY['partner', 'api_key', 'customer', 'user_token', 'attribute', 'attribute_foreign_key'] LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER audit_emptied AFTER TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION audit_change()', of_table);
    CONTINUE WHEN of_table = 'attribute_foreign_key';
    EXECUTE format('CREATE OR REPLACE TRIGGER audit_made AFTER INSERT OR DELETE ON %I
      FOR EACH ROW EXECUTE FUNCTION audit_change()', of_table);
    EXECUTE format('CREATE OR REPLACE TRIGGER audit_changed AFTER UPDATE ON %I
      FOR EACH ROW WHEN (to_jsonb(OLD) - %2$s IS DISTINCT FROM to_jsonb(NEW) - %2$s)
      EXECUTE FUNCTION audit_change()', of_table, unsaid);
  END LOOP;
END $$;
CREATE OR REPLACE TRIGGER audit_tied AFTER INSERT ON attribute_foreign_key
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_foreign_keys();
CREATE OR REPLACE TRIGGER audit_moved AFTER UPDATE ON attribute_foreign_key
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_foreign_keys();
CREATE OR REPLACE TRIGGER audit_untied AFTER DELETE ON attribute_foreign_key
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_foreign_keys();
