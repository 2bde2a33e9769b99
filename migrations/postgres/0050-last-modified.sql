-- When the storage received the version of the object. NULL for files that an earlier release listed.
ALTER TABLE job_file ADD COLUMN IF NOT EXISTS last_modified timestamptz;
