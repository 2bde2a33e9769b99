-- What the counts of an audience were counted against, so that the next load can add to them instead of counting anew.

-- Grows with every import that may have brought devices, after they are in the warehouse.
CREATE SEQUENCE IF NOT EXISTS known_devices_version;
SELECT nextval('known_devices_version');

-- The version that the matched devices were counted with. 0: with none that is known any more.
ALTER TABLE audience ADD COLUMN IF NOT EXISTS matched_version bigint NOT NULL DEFAULT 0;
