-- The identity of this shard, one row. `inlet migrate` inserts it once and records it in PostgreSQL. Every process compares
-- the two, so that a missing, swapped, or foreign shard is detected before a row is loaded.
CREATE TABLE IF NOT EXISTS shard_identity ${on_cluster} (
  identity UUID,
  created_at DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY identity;
