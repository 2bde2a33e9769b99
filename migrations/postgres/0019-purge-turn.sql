-- A purge covers the dead generations of all partners, so one row holds the claim of the running purge and the pause after it.
ALTER TABLE sweep ADD COLUMN IF NOT EXISTS next_at timestamptz;
