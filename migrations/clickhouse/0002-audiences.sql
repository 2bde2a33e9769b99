-- The devices of audiences. A clear makes a new generation: rows of an earlier one are not read any more, whoever writes
-- them. One partition per partner, so that no partner's data is read, merged or rewritten for another's sake.
CREATE TABLE IF NOT EXISTS audience_devices_local ${on_cluster} (
  partner_id    UInt64 CODEC(ZSTD(1)),
  audience_id   UInt64 CODEC(ZSTD(1)),
  generation    UInt32 CODEC(ZSTD(1)),
  device        UUID CODEC(ZSTD(1)),
  event         String CODEC(ZSTD(1)),
  file_id       UInt64 CODEC(ZSTD(1))
) ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY partner_id ORDER BY (partner_id, audience_id, generation, device, event);

CREATE TABLE IF NOT EXISTS audience_devices ${on_cluster} AS audience_devices_local
ENGINE = Distributed('${cluster}', currentDatabase(), 'audience_devices_local', cityHash64(device));

-- The stage: one partition per load (one attempt), as for attributes. In order of file, so that the devices of each file
-- are counted as they are read.
CREATE TABLE IF NOT EXISTS staged_members_local ${on_cluster} (
  load_id       UInt64,
  file_id       UInt64,
  device        UUID,
  event         String
) ENGINE = ${replicated}MergeTree PARTITION BY load_id ORDER BY (file_id, device, event);

CREATE TABLE IF NOT EXISTS staged_members ${on_cluster} AS staged_members_local
ENGINE = Distributed('${cluster}', currentDatabase(), 'staged_members_local', cityHash64(device));

-- Where the judged lines of audience files arrive.
CREATE TABLE IF NOT EXISTS judged_members ${on_cluster} (
  load_id       UInt64,
  file_id       UInt64,
  row           UInt64,
  bytes         UInt64,
  reason        LowCardinality(String),
  device        UUID,
  event         String,
  line          String
) ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS judged_members_to_staged_members ${on_cluster} TO staged_members AS
SELECT load_id, file_id, device, event FROM judged_members WHERE reason = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS judged_members_to_load_counts ${on_cluster} TO load_counts_local AS
SELECT load_id, file_id, reason, count() AS rows, sum(bytes) AS bytes, min(row) AS first_row
FROM judged_members GROUP BY load_id, file_id, reason;

CREATE MATERIALIZED VIEW IF NOT EXISTS judged_members_to_load_rejects ${on_cluster} TO load_rejects_local AS
SELECT load_id, file_id, reason, row, substring(line, 1, 200) AS text
FROM judged_members WHERE reason != '' ORDER BY row LIMIT 100 BY load_id, file_id, reason;
