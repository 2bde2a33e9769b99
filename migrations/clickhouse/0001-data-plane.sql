-- Devices and what is known of them. Local tables hold the rows of one shard, the Distributed table of the same name
-- reads and writes all shards. Everything is keyed by device, so staging, publishing and counting stay on a shard.
-- Variables: ${on_cluster}, ${replicated} (both empty on a plain cluster), ${cluster}.

-- The warehouse: which attributes a device has. One partition per partner, so that no partner's data is read,
-- merged or rewritten for another's sake.
CREATE TABLE IF NOT EXISTS device_attributes_local ${on_cluster} (
  partner_id    UInt64 CODEC(ZSTD(1)),
  attribute_id  UInt64 CODEC(ZSTD(1)),
  device        UUID CODEC(ZSTD(1)),
  id_type       UInt8 CODEC(ZSTD(1)),
  country       LowCardinality(String) CODEC(ZSTD(1)),
  version       UInt64 CODEC(ZSTD(1)),
  is_deleted    UInt8 CODEC(ZSTD(1))
) ENGINE = ${replicated}ReplacingMergeTree(version, is_deleted)
PARTITION BY partner_id ORDER BY (partner_id, attribute_id, device);

CREATE TABLE IF NOT EXISTS device_attributes ${on_cluster} AS device_attributes_local
ENGINE = Distributed('${cluster}', currentDatabase(), 'device_attributes_local', cityHash64(device));

-- Every device that an import has brought (by an add), once.
CREATE TABLE IF NOT EXISTS known_devices_local ${on_cluster} (
  device        UUID CODEC(ZSTD(1))
) ENGINE = ${replicated}ReplacingMergeTree ORDER BY device;

CREATE TABLE IF NOT EXISTS known_devices ${on_cluster} AS known_devices_local
ENGINE = Distributed('${cluster}', currentDatabase(), 'known_devices_local', cityHash64(device));

-- The stage: one partition per load (one attempt), dropped when the load is published or given up.
CREATE TABLE IF NOT EXISTS staged_attributes_local ${on_cluster} (
  load_id       UInt64,
  partner_id    UInt64,
  attribute_id  UInt64,
  device        UUID,
  id_type       UInt8,
  country       LowCardinality(String),
  version       UInt64,
  is_deleted    UInt8
) ENGINE = ${replicated}MergeTree PARTITION BY load_id ORDER BY (partner_id, attribute_id, device);

CREATE TABLE IF NOT EXISTS staged_attributes ${on_cluster} AS staged_attributes_local
ENGINE = Distributed('${cluster}', currentDatabase(), 'staged_attributes_local', cityHash64(device));

-- The devices of a whole job, over all its files, in order of device: they are counted once at the end of the job.
-- One partition per job, so that ten thousand files make one drop.
CREATE TABLE IF NOT EXISTS staged_devices_local ${on_cluster} (
  job_id        UInt64,
  load_id       UInt64,
  device        UUID,
  is_add        UInt8
) ENGINE = ${replicated}MergeTree PARTITION BY job_id ORDER BY device;

CREATE TABLE IF NOT EXISTS staged_devices ${on_cluster} AS staged_devices_local
ENGINE = Distributed('${cluster}', currentDatabase(), 'staged_devices_local', cityHash64(device));

-- What a job's keys mean, resolved once when the job starts.
CREATE TABLE IF NOT EXISTS job_keys_local ${on_cluster} (
  job_id        UInt64,
  key           String,
  attribute_id  UInt64
) ENGINE = ${replicated}MergeTree PARTITION BY job_id ORDER BY key;

CREATE TABLE IF NOT EXISTS job_keys ${on_cluster} AS job_keys_local
ENGINE = Distributed('${cluster}', currentDatabase(), 'job_keys_local', job_id);

-- How many rows of a load ended how. An empty reason means accepted.
CREATE TABLE IF NOT EXISTS load_counts_local ${on_cluster} (
  load_id       UInt64,
  file_id       UInt64,
  reason        LowCardinality(String),
  rows          UInt64,
  bytes         UInt64,
  first_row     UInt64,
  loaded_on     Date DEFAULT today()
) ENGINE = ${replicated}MergeTree PARTITION BY toMonday(loaded_on) ORDER BY (load_id, file_id, reason)
TTL loaded_on + INTERVAL 90 DAY;

CREATE TABLE IF NOT EXISTS load_counts ${on_cluster} AS load_counts_local
ENGINE = Distributed('${cluster}', currentDatabase(), 'load_counts_local', load_id);

-- The first refused rows of each file and reason, for the partner's engineer.
CREATE TABLE IF NOT EXISTS load_rejects_local ${on_cluster} (
  load_id       UInt64,
  file_id       UInt64,
  reason        LowCardinality(String),
  row           UInt64,
  text          String CODEC(ZSTD(1)),
  loaded_on     Date DEFAULT today()
) ENGINE = ${replicated}MergeTree PARTITION BY toMonday(loaded_on) ORDER BY (load_id, file_id, reason, row)
TTL loaded_on + INTERVAL 90 DAY;

CREATE TABLE IF NOT EXISTS load_rejects ${on_cluster} AS load_rejects_local
ENGINE = Distributed('${cluster}', currentDatabase(), 'load_rejects_local', load_id);

-- Where judged lines arrive. The table keeps nothing; the views below send each line where it belongs.
CREATE TABLE IF NOT EXISTS judged_lines ${on_cluster} (
  partner_id    UInt64,
  job_id        UInt64,
  load_id       UInt64,
  file_id       UInt64,
  version       UInt64,
  row           UInt64,
  bytes         UInt64,
  reason        LowCardinality(String),
  device        UUID,
  id_type       UInt8,
  country       LowCardinality(String),
  is_deleted    UInt8,
  attribute_ids Array(UInt64),
  line          String
) ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS judged_lines_to_staged_attributes ${on_cluster} TO staged_attributes AS
SELECT load_id, partner_id, arrayJoin(attribute_ids) AS attribute_id, device, id_type, country, version, is_deleted
FROM judged_lines WHERE reason = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS judged_lines_to_staged_devices ${on_cluster} TO staged_devices AS
SELECT job_id, load_id, device, toUInt8(NOT is_deleted) AS is_add FROM judged_lines WHERE reason = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS judged_lines_to_load_counts ${on_cluster} TO load_counts_local AS
SELECT load_id, file_id, reason, count() AS rows, sum(bytes) AS bytes, min(row) AS first_row
FROM judged_lines GROUP BY load_id, file_id, reason;

CREATE MATERIALIZED VIEW IF NOT EXISTS judged_lines_to_load_rejects ${on_cluster} TO load_rejects_local AS
SELECT load_id, file_id, reason, row, substring(line, 1, 200) AS text
FROM judged_lines WHERE reason != '' ORDER BY row LIMIT 100 BY load_id, file_id, reason;
