-- Connections of the API name the caller in two settings. `inlet.caller` is for the audit log, such as "session 5".
-- `inlet.requester` is for records, such as "user Jane" or "key 12". A command of an operator sets `inlet.actor` instead.
ALTER TABLE import_log ADD COLUMN IF NOT EXISTS requested_by text;
ALTER TABLE import_log ALTER COLUMN requested_by SET DEFAULT nullif(current_setting('inlet.requester', true), '');
ALTER TABLE job ADD COLUMN IF NOT EXISTS canceled_by text;

CREATE OR REPLACE FUNCTION audit_actor() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    nullif(current_setting('inlet.actor', true), ''),
    nullif(current_setting('inlet.caller', true), ''),
    nullif(current_setting('application_name'), ''),
    session_user
  )
$$;
