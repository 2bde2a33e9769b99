-- The number of days after which an attribute of a device is removed unless an import has published it again. NULL: never.
ALTER TABLE partner ADD COLUMN IF NOT EXISTS device_days integer CHECK (device_days > 0);

-- The state of this removal, written by workers. `unseen_seq` is the last position in the lane whose rows are removed or being
-- removed. `forgotten_seq` is the last position whose job has been removed because it is past its retention.
CREATE TABLE IF NOT EXISTS device_retention (
  partner_id    bigint PRIMARY KEY REFERENCES partner (id) ON DELETE CASCADE,
  forgotten_seq bigint NOT NULL DEFAULT 0,
  unseen_seq    bigint NOT NULL DEFAULT 0,
  is_removing   boolean NOT NULL DEFAULT false,
  -- Of the running removal: the rows that it found, and their attributes, whose bitmaps are replaced at its end.
  rows          bigint NOT NULL DEFAULT 0,
  attribute_ids bigint[] NOT NULL DEFAULT '{}',
  due_at        timestamptz NOT NULL DEFAULT now(),
  failure       text,
  removed_rows  bigint NOT NULL DEFAULT 0,
  removed_at    timestamptz
);
ALTER TABLE device_retention ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON device_retention;
CREATE POLICY of_partner ON device_retention USING (partner_id = current_partner());
