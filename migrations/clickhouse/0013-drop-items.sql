-- The items of DROP's lists. Every shard has all of them, because any shard can store the devices, and matching reads the hashes there.
-- Kind 0: requested items. Kind 1: withdrawn items. These are kept: a hash is suppressed until all items with this hash are withdrawn.
-- Kind 2: hashes that are exempt. Kind 3: hashes of stored devices. Kind 4: items of other lists. These are dropped by partition when the
-- cycle has ended.
CREATE TABLE IF NOT EXISTS drop_items_local ${on_cluster} (
  cycle_id      UInt64,
  kind          UInt8,
  list          LowCardinality(String),
  item          String,
  hash          FixedString(32)
) ENGINE = ${replicated}ReplacingMergeTree PARTITION BY (cycle_id, kind) ORDER BY (kind, list, hash, item)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
