-- The report as callers see it, and the settings with which it was protected. Responses are read from here.
ALTER TABLE composition ADD COLUMN IF NOT EXISTS published jsonb;
ALTER TABLE composition ADD COLUMN IF NOT EXISTS published_with text;

-- The number of reports that were computed for a partner since the start of one day (UTC).
CREATE TABLE IF NOT EXISTS report_budget (
  partner_id bigint PRIMARY KEY REFERENCES partner (id),
  day timestamptz NOT NULL,
  computed integer NOT NULL
);
ALTER TABLE report_budget ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON report_budget;
CREATE POLICY of_partner ON report_budget USING (partner_id = current_partner());
