-- How many requests a key (or, with key_id 0, all keys of a partner) made in the current window: one row each, counted anew
-- when the window changes. Not written to the log: after a crash of the server the counts begin at nothing, and that is well.
CREATE UNLOGGED TABLE IF NOT EXISTS request_window (
  partner_id bigint NOT NULL,
  key_id     bigint NOT NULL,
  -- Windows since 1970.
  number     bigint NOT NULL,
  taken      bigint NOT NULL,
  PRIMARY KEY (partner_id, key_id)
) WITH (fillfactor = 50);
