-- Who canceled a job, and when; and which import a retry repeats.
ALTER TABLE job ADD COLUMN IF NOT EXISTS cancel_requested_at timestamptz;
ALTER TABLE job ADD COLUMN IF NOT EXISTS cancel_requested_by text;
ALTER TABLE import_log ADD COLUMN IF NOT EXISTS retry_of bigint;
