-- The removal of a partner with all of its data. A row is the point of no return, and it stays after the partner is gone. There is
-- no foreign key, because the row of the partner is removed too.
CREATE TABLE IF NOT EXISTS partner_removal (
  partner_id bigint PRIMARY KEY,
  name text NOT NULL,
  prefix text NOT NULL,
  -- Whether Inlet removes the storage user. Otherwise, the operator does.
  has_storage_user boolean NOT NULL,
  step text NOT NULL DEFAULT 'wait',
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  -- What was removed and what remained, by place, shard, and replica.
  removed jsonb NOT NULL DEFAULT '[]',
  remaining jsonb NOT NULL DEFAULT '[]',
  -- When nothing remained.
  removed_at timestamptz,
  finished_at timestamptz,
  proof jsonb
);
CREATE INDEX IF NOT EXISTS partner_removal_name ON partner_removal (name);
ALTER TABLE partner_removal ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON partner_removal;
CREATE POLICY of_partner ON partner_removal USING (partner_id = current_partner());
