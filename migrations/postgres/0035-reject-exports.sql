-- Exports of every rejected row of an import, or of one file of an audience. A worker holds an export until claimed_until. After
-- expires_at, a worker removes the objects and then the row.
CREATE TABLE IF NOT EXISTS reject_export (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id bigint NOT NULL REFERENCES partner (id),
  job_id bigint NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  -- Null for all files of an import.
  job_file_id bigint REFERENCES job_file (id) ON DELETE CASCADE,
  -- The folder of the objects in the shared bucket.
  folder text NOT NULL,
  status smallint NOT NULL DEFAULT 0 CHECK (status >= 0 AND status <= 3),
  -- Never decreases, so that a worker that lost its claim cannot hold a later one.
  attempt integer NOT NULL DEFAULT 0,
  -- The number of attempts when the export was last requested.
  earlier_attempts integer NOT NULL DEFAULT 0,
  claimed_until timestamptz,
  requested_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz,
  failure_code text,
  failure_detail text,
  UNIQUE NULLS NOT DISTINCT (job_id, job_file_id)
);
CREATE INDEX IF NOT EXISTS reject_export_partner ON reject_export (partner_id);
CREATE INDEX IF NOT EXISTS reject_export_file ON reject_export (job_file_id);
ALTER TABLE reject_export ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON reject_export;
CREATE POLICY of_partner ON reject_export USING (partner_id = current_partner());

-- One file of an export. Its object exists if object_key is set.
CREATE TABLE IF NOT EXISTS reject_file (
  export_id bigint NOT NULL REFERENCES reject_export (id) ON DELETE CASCADE,
  job_file_id bigint NOT NULL REFERENCES job_file (id) ON DELETE CASCADE,
  partner_id bigint NOT NULL REFERENCES partner (id),
  status smallint NOT NULL DEFAULT 0 CHECK (status >= 0 AND status <= 3),
  bytes_read bigint NOT NULL DEFAULT 0,
  rows bigint NOT NULL DEFAULT 0,
  object_key text,
  object_bytes bigint NOT NULL DEFAULT 0,
  failure_code text,
  failure_detail text,
  PRIMARY KEY (export_id, job_file_id)
);
CREATE INDEX IF NOT EXISTS reject_file_file ON reject_file (job_file_id);
ALTER TABLE reject_file ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON reject_file;
CREATE POLICY of_partner ON reject_file USING (partner_id = current_partner());
