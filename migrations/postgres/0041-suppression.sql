-- The suppression list. Its hashes are in ClickHouse. This row names the version that every server has.
CREATE TABLE IF NOT EXISTS suppression (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version bigint NOT NULL DEFAULT 0,
  -- Incremented when a change starts, so that an interrupted change leaves no two changes with the same version.
  last_version bigint NOT NULL DEFAULT 0,
  hashes bigint NOT NULL DEFAULT 0,
  -- A checksum of the hashes, which is the same on every server.
  content text NOT NULL DEFAULT '0',
  -- The key from which the stand-ins of suppressed devices are derived.
  stand_in_key uuid NOT NULL DEFAULT gen_random_uuid(),
  changed_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO suppression DEFAULT VALUES ON CONFLICT DO NOTHING;

-- The version of the list that the rows of the load were checked against.
ALTER TABLE load_account ADD COLUMN IF NOT EXISTS suppression_version bigint NOT NULL DEFAULT 0;

-- Accepted rows whose device is on the list: the exact number, and the estimate that partners see.
ALTER TABLE job_file ADD COLUMN IF NOT EXISTS suppressed_rows bigint NOT NULL DEFAULT 0;
ALTER TABLE job_file ADD COLUMN IF NOT EXISTS shown_suppressed bigint NOT NULL DEFAULT 0;

-- The sum of the estimates for the files.
ALTER TABLE import_log ADD COLUMN IF NOT EXISTS suppressed bigint NOT NULL DEFAULT 0;
