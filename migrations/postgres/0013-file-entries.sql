-- A failed entry in the file list of an audience that its owner has dismissed no longer decides the status.
ALTER TABLE job_file ADD COLUMN IF NOT EXISTS dismissed_at timestamptz;
ALTER TABLE audience_load ADD COLUMN IF NOT EXISTS dismissed_at timestamptz;

-- The submitted path if it starts with the partner's prefix. It is tried first; file_path is the same path without the prefix.
ALTER TABLE audience_load ADD COLUMN IF NOT EXISTS literal_path text;

-- When the matched devices were counted.
ALTER TABLE audience ADD COLUMN IF NOT EXISTS matched_at timestamptz;
