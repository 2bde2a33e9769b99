-- Entries of the audit log can be deleted when they are 90 days old. Younger entries cannot be deleted by any role, and no
-- entry can be changed.
CREATE OR REPLACE FUNCTION audit_refuse_recent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.at > now() - interval '90 days' THEN
    RAISE EXCEPTION 'entries of the audit log can be deleted after 90 days' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN OLD;
END $$;
CREATE OR REPLACE TRIGGER audit_log_keeps_recent BEFORE DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION audit_refuse_recent();
CREATE OR REPLACE TRIGGER audit_log_is_only_added_to BEFORE UPDATE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();

-- What each partner uses, as measured by workers. A missing row means that nothing is measured yet.
CREATE TABLE IF NOT EXISTS partner_usage (
  partner_id bigint PRIMARY KEY REFERENCES partner (id),
  stored_rows bigint NOT NULL DEFAULT 0,
  stored_bytes bigint NOT NULL DEFAULT 0,
  storage_measured_at timestamptz,
  idempotency_keys bigint NOT NULL DEFAULT 0,
  keys_measured_at timestamptz
);
ALTER TABLE partner_usage ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON partner_usage;
CREATE POLICY of_partner ON partner_usage USING (partner_id = current_partner());

-- A caller for a customer sees only that customer's audiences, but the quota covers all audiences of the partner. Returns no row
-- for another partner.
CREATE OR REPLACE FUNCTION audiences_of(bigint) RETURNS SETOF bigint
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT count(*) FROM public.audience WHERE partner_id = $1 HAVING $1 = public.current_partner()';
