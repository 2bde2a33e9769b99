-- Whether files of the partner may contain IDs without hyphens. Otherwise, 32 hexadecimal digits are rejected as a hash.
ALTER TABLE partner ADD COLUMN IF NOT EXISTS unhyphenated_ids boolean NOT NULL DEFAULT false;
