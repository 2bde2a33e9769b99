-- A bitmap of all numbers of each chunk. Reports subtract an audience from it, because intersecting a bitmap with the
-- dense complement of an audience is faster than with the audience. A fold adds a chunk before it assigns the first
-- number in it.
CREATE TABLE IF NOT EXISTS full_chunks_local ${on_cluster} (
  chunk         UInt16,
  devices       AggregateFunction(groupBitmap, UInt32)
) ENGINE = ${replicated}ReplacingMergeTree ORDER BY chunk;
