-- The rows of each staged load on each shard, counted when the load was staged. A lane publishes the load only if it finds
-- the same rows, and records that it has published them before it drops the stage. An entry is removed with its job.
CREATE TABLE IF NOT EXISTS load_account (
  load_id bigint PRIMARY KEY,
  partner_id bigint NOT NULL REFERENCES partner (id),
  job_id bigint NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  staged_rows jsonb NOT NULL,
  published_at timestamptz
);
CREATE INDEX IF NOT EXISTS load_account_job ON load_account (job_id);

ALTER TABLE load_account ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON load_account;
CREATE POLICY of_partner ON load_account USING (partner_id = current_partner());

-- How often the file was loaded again because staged rows were missing.
ALTER TABLE job_file ADD COLUMN IF NOT EXISTS reloads smallint NOT NULL DEFAULT 0;
