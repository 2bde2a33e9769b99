CREATE TABLE {database}.attribute_bitmaps_local
(
    `partner_id` UInt64,
    `attribute_id` UInt64,
    `country` LowCardinality(String),
    `id_type` UInt8,
    `chunk` UInt16,
    `devices` AggregateFunction(groupBitmap, UInt32),
    `content` UInt64,
    `fold_id` UInt64
)
ENGINE = ReplacingMergeTree(fold_id)
ORDER BY (partner_id, attribute_id, country, id_type, chunk)
SETTINGS index_granularity = 1024;

CREATE TABLE {database}.audience_bitmaps_local
(
    `partner_id` UInt64,
    `audience_id` UInt64,
    `generation` UInt32,
    `kind` UInt8,
    `event` String,
    `chunk` UInt16,
    `devices` AggregateFunction(groupBitmap, UInt32),
    `content` UInt64,
    `fold_id` UInt64
)
ENGINE = ReplacingMergeTree(fold_id)
PARTITION BY partner_id
ORDER BY (partner_id, audience_id, generation, kind, event, chunk)
SETTINGS parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000, index_granularity = 8192;

CREATE TABLE {database}.audience_devices
(
    `partner_id` UInt64 CODEC(ZSTD(1)),
    `audience_id` UInt64 CODEC(ZSTD(1)),
    `generation` UInt32 CODEC(ZSTD(1)),
    `device` UUID CODEC(ZSTD(1)),
    `event` String CODEC(ZSTD(1)),
    `file_id` UInt64 CODEC(ZSTD(1))
)
ENGINE = Distributed('{cluster}', '{database}', 'audience_devices_local', cityHash64(device));

CREATE TABLE {database}.audience_devices_local
(
    `partner_id` UInt64 CODEC(LZ4),
    `audience_id` UInt64 CODEC(LZ4),
    `generation` UInt32 CODEC(LZ4),
    `device` UUID CODEC(LZ4),
    `event` String CODEC(LZ4),
    `file_id` UInt64 CODEC(LZ4)
)
ENGINE = ReplacingMergeTree
PARTITION BY partner_id
ORDER BY (partner_id, audience_id, generation, device, event)
SETTINGS index_granularity = 8192, merge_selector_base = 8, parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE {database}.device_attributes
(
    `partner_id` UInt64 CODEC(ZSTD(1)),
    `attribute_id` UInt64 CODEC(ZSTD(1)),
    `device` UUID CODEC(ZSTD(1)),
    `id_type` UInt8 CODEC(ZSTD(1)),
    `country` LowCardinality(String) CODEC(ZSTD(1)),
    `version` UInt64 CODEC(ZSTD(1)),
    `is_deleted` UInt8 CODEC(ZSTD(1))
)
ENGINE = Distributed('{cluster}', '{database}', 'device_attributes_local', cityHash64(device));

CREATE TABLE {database}.device_attributes_local
(
    `partner_id` UInt64 CODEC(LZ4),
    `attribute_id` UInt64 CODEC(LZ4),
    `device` UUID CODEC(LZ4),
    `id_type` UInt8 CODEC(LZ4),
    `country` LowCardinality(String) CODEC(LZ4),
    `version` UInt64 CODEC(LZ4),
    `is_deleted` UInt8 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY partner_id
ORDER BY (partner_id, attribute_id, device)
SETTINGS index_granularity = 8192, parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE {database}.device_numbers_local
(
    `device` UUID CODEC(LZ4),
    `number` UInt32 CODEC(Delta(4), LZ4)
)
ENGINE = ReplacingMergeTree
ORDER BY device
SETTINGS index_granularity = 1024;

CREATE TABLE {database}.drop_items_local
(
    `cycle_id` UInt64,
    `kind` UInt8,
    `list` LowCardinality(String),
    `item` String,
    `hash` FixedString(32)
)
ENGINE = ReplacingMergeTree
PARTITION BY (cycle_id, kind)
ORDER BY (kind, list, hash, item)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 8192;

CREATE TABLE {database}.erased_devices_local
(
    `batch_id` UInt64,
    `kind` UInt8,
    `partner_id` UInt64,
    `device` UUID,
    `load_id` UInt64,
    `file_id` UInt64,
    `row` UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY (batch_id, kind)
ORDER BY (kind, partner_id, device, load_id, file_id, row)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 8192;

CREATE TABLE {database}.full_chunks_local
(
    `chunk` UInt16,
    `devices` AggregateFunction(groupBitmap, UInt32)
)
ENGINE = ReplacingMergeTree
ORDER BY chunk
SETTINGS index_granularity = 8192;

CREATE TABLE {database}.index_lease_local
(
    `lease_id` UInt64
)
ENGINE = ReplacingMergeTree(lease_id)
ORDER BY tuple()
SETTINGS index_granularity = 8192;

CREATE TABLE {database}.job_keys
(
    `job_id` UInt64,
    `key` String,
    `attribute_id` UInt64
)
ENGINE = Distributed('{cluster}', '{database}', 'job_keys_local', job_id);

CREATE TABLE {database}.job_keys_local
(
    `job_id` UInt64,
    `key` String,
    `attribute_id` UInt64
)
ENGINE = MergeTree
PARTITION BY job_id
ORDER BY key
SETTINGS index_granularity = 8192;

CREATE TABLE {database}.judged_lines
(
    `partner_id` UInt64,
    `job_id` UInt64,
    `load_id` UInt64,
    `file_id` UInt64,
    `version` UInt64,
    `row` UInt64,
    `bytes` UInt64,
    `reason` LowCardinality(String),
    `device` UUID,
    `id_type` UInt8,
    `country` LowCardinality(String),
    `is_deleted` UInt8,
    `attribute_ids` Array(UInt64),
    `line` String,
    `stand_ins` Array(UUID) DEFAULT [],
    `is_sampled` UInt8 DEFAULT 0
)
ENGINE = `Null`;

CREATE MATERIALIZED VIEW {database}.judged_lines_to_load_counts TO {database}.load_counts_local
(
    `load_id` UInt64,
    `file_id` UInt64,
    `reason` LowCardinality(String),
    `rows` UInt64,
    `bytes` UInt64,
    `first_row` UInt64,
    `staged_rows` UInt64,
    `suppressed_rows` UInt64,
    `sampled_rows` UInt64
)
AS SELECT
    load_id,
    file_id,
    reason,
    count() AS rows,
    sum(bytes) AS bytes,
    min(row) AS first_row,
    sum(if(reason = '', length(attribute_ids), 0)) AS staged_rows,
    countIf(notEmpty(stand_ins)) AS suppressed_rows,
    sum(toUInt64(is_sampled)) AS sampled_rows
FROM {database}.judged_lines
GROUP BY
    load_id,
    file_id,
    reason;

CREATE MATERIALIZED VIEW {database}.judged_lines_to_load_rejects TO {database}.load_rejects_local
(
    `load_id` UInt64,
    `file_id` UInt64,
    `reason` LowCardinality(String),
    `row` UInt64,
    `text` String
)
AS SELECT
    load_id,
    file_id,
    reason,
    row,
    substring(line, 1, 200) AS text
FROM {database}.judged_lines
WHERE reason != ''
ORDER BY row ASC
LIMIT 100 BY
    load_id,
    file_id,
    reason;

CREATE MATERIALIZED VIEW {database}.judged_lines_to_staged_attributes TO {database}.staged_attributes
(
    `load_id` UInt64,
    `partner_id` UInt64,
    `attribute_id` UInt64,
    `device` UUID,
    `id_type` UInt8,
    `country` LowCardinality(String),
    `version` UInt64,
    `is_deleted` UInt8
)
AS SELECT
    load_id,
    partner_id,
    arrayJoin(attribute_ids) AS attribute_id,
    device,
    id_type,
    country,
    version,
    is_deleted
FROM {database}.judged_lines
WHERE (reason = '') AND empty(stand_ins);

CREATE MATERIALIZED VIEW {database}.judged_lines_to_staged_devices TO {database}.staged_devices
(
    `job_id` UInt64,
    `load_id` UInt64,
    `device` UUID,
    `is_add` UInt8
)
AS SELECT
    job_id,
    load_id,
    device,
    toUInt8(NOT is_deleted) AS is_add
FROM {database}.judged_lines
WHERE (reason = '') AND empty(stand_ins);

CREATE TABLE {database}.judged_members
(
    `load_id` UInt64,
    `file_id` UInt64,
    `row` UInt64,
    `bytes` UInt64,
    `reason` LowCardinality(String),
    `device` UUID,
    `event` String,
    `line` String,
    `stand_ins` Array(UUID) DEFAULT [],
    `is_sampled` UInt8 DEFAULT 0
)
ENGINE = `Null`;

CREATE MATERIALIZED VIEW {database}.judged_members_to_load_counts TO {database}.load_counts_local
(
    `load_id` UInt64,
    `file_id` UInt64,
    `reason` LowCardinality(String),
    `rows` UInt64,
    `bytes` UInt64,
    `first_row` UInt64,
    `suppressed_rows` UInt64,
    `sampled_rows` UInt64
)
AS SELECT
    load_id,
    file_id,
    reason,
    count() AS rows,
    sum(bytes) AS bytes,
    min(row) AS first_row,
    countIf(notEmpty(stand_ins)) AS suppressed_rows,
    sum(toUInt64(is_sampled)) AS sampled_rows
FROM {database}.judged_members
GROUP BY
    load_id,
    file_id,
    reason;

CREATE MATERIALIZED VIEW {database}.judged_members_to_load_rejects TO {database}.load_rejects_local
(
    `load_id` UInt64,
    `file_id` UInt64,
    `reason` LowCardinality(String),
    `row` UInt64,
    `text` String
)
AS SELECT
    load_id,
    file_id,
    reason,
    row,
    substring(line, 1, 200) AS text
FROM {database}.judged_members
WHERE reason != ''
ORDER BY row ASC
LIMIT 100 BY
    load_id,
    file_id,
    reason;

CREATE MATERIALIZED VIEW {database}.judged_members_to_staged_members TO {database}.staged_members
(
    `load_id` UInt64,
    `file_id` UInt64,
    `device` UUID,
    `event` String
)
AS SELECT
    load_id,
    file_id,
    device,
    event
FROM {database}.judged_members
WHERE (reason = '') AND empty(stand_ins);

CREATE TABLE {database}.known_devices
(
    `device` UUID CODEC(ZSTD(1))
)
ENGINE = Distributed('{cluster}', '{database}', 'known_devices_local', cityHash64(device));

CREATE TABLE {database}.known_devices_local
(
    `device` UUID CODEC(LZ4)
)
ENGINE = ReplacingMergeTree
ORDER BY device
SETTINGS index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE {database}.load_counts
(
    `load_id` UInt64,
    `file_id` UInt64,
    `reason` LowCardinality(String),
    `rows` UInt64,
    `bytes` UInt64,
    `first_row` UInt64,
    `loaded_on` Date DEFAULT today(),
    `staged_rows` UInt64 DEFAULT 0,
    `suppressed_rows` UInt64 DEFAULT 0,
    `sampled_rows` UInt64 DEFAULT 0
)
ENGINE = Distributed('{cluster}', '{database}', 'load_counts_local', load_id);

CREATE TABLE {database}.load_counts_local
(
    `load_id` UInt64,
    `file_id` UInt64,
    `reason` LowCardinality(String),
    `rows` UInt64,
    `bytes` UInt64,
    `first_row` UInt64,
    `loaded_on` Date DEFAULT today(),
    `staged_rows` UInt64 DEFAULT 0,
    `suppressed_rows` UInt64 DEFAULT 0,
    `sampled_rows` UInt64 DEFAULT 0
)
ENGINE = MergeTree
PARTITION BY toMonday(loaded_on)
ORDER BY (load_id, file_id, reason)
TTL loaded_on + toIntervalDay(90)
SETTINGS index_granularity = 8192;

CREATE TABLE {database}.load_rejects
(
    `load_id` UInt64,
    `file_id` UInt64,
    `reason` LowCardinality(String),
    `row` UInt64,
    `text` String CODEC(ZSTD(1)),
    `loaded_on` Date DEFAULT today()
)
ENGINE = Distributed('{cluster}', '{database}', 'load_rejects_local', load_id);

CREATE TABLE {database}.load_rejects_local
(
    `load_id` UInt64,
    `file_id` UInt64,
    `reason` LowCardinality(String),
    `row` UInt64,
    `text` String CODEC(ZSTD(1)),
    `loaded_on` Date DEFAULT today()
)
ENGINE = MergeTree
PARTITION BY toMonday(loaded_on)
ORDER BY (load_id, file_id, reason, row)
TTL loaded_on + toIntervalDay(90)
SETTINGS index_granularity = 8192;

CREATE TABLE {database}.purged_generations_local
(
    `purge_id` UUID,
    `partner_id` UInt64,
    `audience_id` UInt64,
    `generation` UInt32,
    `purged_on` Date DEFAULT today()
)
ENGINE = MergeTree
PARTITION BY toMonday(purged_on)
ORDER BY (purge_id, partner_id, audience_id, generation)
TTL purged_on + toIntervalDay(30)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 8192;

CREATE TABLE {database}.schema_migration
(
    `name` String,
    `checksum` String,
    `ran_at` DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY name
SETTINGS index_granularity = 8192;

CREATE TABLE {database}.shard_identity
(
    `identity` UUID,
    `created_at` DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY identity
SETTINGS index_granularity = 8192;

CREATE TABLE {database}.staged_attributes
(
    `load_id` UInt64,
    `partner_id` UInt64,
    `attribute_id` UInt64,
    `device` UUID,
    `id_type` UInt8,
    `country` LowCardinality(String),
    `version` UInt64,
    `is_deleted` UInt8
)
ENGINE = Distributed('{cluster}', '{database}', 'staged_attributes_local', cityHash64(device));

CREATE TABLE {database}.staged_attributes_local
(
    `load_id` UInt64,
    `partner_id` UInt64,
    `attribute_id` UInt64,
    `device` UUID,
    `id_type` UInt8,
    `country` LowCardinality(String),
    `version` UInt64,
    `is_deleted` UInt8
)
ENGINE = MergeTree
PARTITION BY load_id
ORDER BY (partner_id, attribute_id, device)
SETTINGS index_granularity = 8192, parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000;

CREATE TABLE {database}.staged_devices
(
    `job_id` UInt64,
    `load_id` UInt64,
    `device` UUID,
    `is_add` UInt8
)
ENGINE = Distributed('{cluster}', '{database}', 'staged_devices_local', cityHash64(device));

CREATE TABLE {database}.staged_devices_local
(
    `job_id` UInt64,
    `load_id` UInt64,
    `device` UUID,
    `is_add` UInt8
)
ENGINE = MergeTree
PARTITION BY job_id
ORDER BY device
SETTINGS index_granularity = 8192, parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000;

CREATE TABLE {database}.staged_members
(
    `load_id` UInt64,
    `file_id` UInt64,
    `device` UUID,
    `event` String
)
ENGINE = Distributed('{cluster}', '{database}', 'staged_members_local', cityHash64(device));

CREATE TABLE {database}.staged_members_local
(
    `load_id` UInt64,
    `file_id` UInt64,
    `device` UUID,
    `event` String
)
ENGINE = MergeTree
PARTITION BY load_id
ORDER BY (file_id, device, event)
SETTINGS index_granularity = 8192, parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000;

CREATE TABLE {database}.stand_in_key_local
(
    `key` UUID
)
ENGINE = MergeTree
ORDER BY key
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 8192;

CREATE TABLE {database}.suppressed_hashes_local
(
    `hash` FixedString(32),
    `version` UInt64,
    `is_removed` UInt8
)
ENGINE = ReplacingMergeTree(version, is_removed)
ORDER BY hash
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 8192;

CREATE MATERIALIZED VIEW {database}.suppressed_lines_to_staged_attributes TO {database}.staged_attributes
(
    `load_id` UInt64,
    `partner_id` UInt64,
    `attribute_id` UInt64,
    `device` UUID,
    `id_type` UInt8,
    `country` String,
    `version` UInt64,
    `is_deleted` UInt8
)
AS SELECT
    load_id,
    partner_id,
    one.1 AS attribute_id,
    one.2 AS device,
    toUInt8(0) AS id_type,
    '' AS country,
    version,
    is_deleted
FROM
(
    SELECT
        load_id,
        partner_id,
        version,
        is_deleted,
        arrayJoin(arrayZip(attribute_ids, arrayPopFront(stand_ins))) AS one
    FROM {database}.judged_lines
    WHERE notEmpty(stand_ins)
);

CREATE MATERIALIZED VIEW {database}.suppressed_lines_to_staged_devices TO {database}.staged_devices
(
    `job_id` UInt64,
    `load_id` UInt64,
    `device` UUID,
    `is_add` UInt8
)
AS SELECT
    job_id,
    load_id,
    stand_ins[1] AS device,
    toUInt8(NOT is_deleted) AS is_add
FROM {database}.judged_lines
WHERE notEmpty(stand_ins);

CREATE MATERIALIZED VIEW {database}.suppressed_members_to_staged_members TO {database}.staged_members
(
    `load_id` UInt64,
    `file_id` UInt64,
    `device` UUID,
    `event` String
)
AS SELECT
    load_id,
    file_id,
    stand_ins[1] AS device,
    lower(hex(reinterpretAsUInt64(stand_ins[2]))) AS event
FROM {database}.judged_members
WHERE notEmpty(stand_ins);
