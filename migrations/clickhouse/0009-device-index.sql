-- The device index answers how many devices two sets have in common without reading the rows. Each shard gives every device of its
-- rows a number, and stores sets of devices as bitmaps of these numbers. The rows remain the source of truth: workers update the index
-- in the background, and `inlet index rebuild` rebuilds it.

-- The number of each device on this shard. Only one worker at a time assigns numbers. A fold often reads a few devices, so the
-- granules are small.
CREATE TABLE IF NOT EXISTS device_numbers_local ${on_cluster} (
  device        UUID CODEC(LZ4),
  number        UInt32 CODEC(Delta, LZ4)
) ENGINE = ${replicated}ReplacingMergeTree ORDER BY device SETTINGS index_granularity = 1024;

-- The devices of each attribute, by country and ID type. Each device is in one cell of an attribute, so that the cells add up to the
-- attribute. Attribute 0 of partner 0 contains all known devices. A chunk is a range of 2^20 numbers. `content` identifies
-- the set of devices.
CREATE TABLE IF NOT EXISTS attribute_bitmaps_local ${on_cluster} (
  partner_id    UInt64,
  attribute_id  UInt64,
  country       LowCardinality(String),
  id_type       UInt8,
  chunk         UInt16,
  devices       AggregateFunction(groupBitmap, UInt32),
  content       UInt64,
  fold_id       UInt64
) ENGINE = ${replicated}ReplacingMergeTree(fold_id) ORDER BY (partner_id, attribute_id, country, id_type, chunk)
SETTINGS index_granularity = 1024;

-- The devices of each audience. Kind 0 contains all devices, kind 1 the devices with an event, and kind 2 the devices whose first
-- event it is. One partition per partner, as for the devices themselves.
CREATE TABLE IF NOT EXISTS audience_bitmaps_local ${on_cluster} (
  partner_id    UInt64,
  audience_id   UInt64,
  generation    UInt32,
  kind          UInt8,
  event         String,
  chunk         UInt16,
  devices       AggregateFunction(groupBitmap, UInt32),
  content       UInt64,
  fold_id       UInt64
) ENGINE = ${replicated}ReplacingMergeTree(fold_id)
PARTITION BY partner_id ORDER BY (partner_id, audience_id, generation, kind, event, chunk)
SETTINGS parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000;

-- The latest lease. Statements with an earlier lease insert no rows.
CREATE TABLE IF NOT EXISTS index_lease_local ${on_cluster} (
  lease_id      UInt64
) ENGINE = ${replicated}ReplacingMergeTree(lease_id) ORDER BY tuple();
