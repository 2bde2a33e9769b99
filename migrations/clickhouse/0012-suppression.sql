-- The suppression list: hashes of devices whose data is not stored. Every server has the whole list, because every server
-- can receive a load. A removed hash stays in the table, so that servers with different versions of the list can be merged.
CREATE TABLE IF NOT EXISTS suppressed_hashes_local ${on_cluster} (
  hash          FixedString(32),
  version       UInt64,
  is_removed    UInt8
) ENGINE = ReplacingMergeTree(version, is_removed) ORDER BY hash
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The key from which the stand-ins of suppressed devices are derived. It has one row, which is the same on every server.
CREATE TABLE IF NOT EXISTS stand_in_key_local ${on_cluster} (
  key           UUID
) ENGINE = MergeTree ORDER BY key
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What is stored instead of the data of a suppressed row. Empty for all other rows.
ALTER TABLE judged_lines ${on_cluster} ADD COLUMN IF NOT EXISTS stand_ins Array(UUID) DEFAULT [];
ALTER TABLE judged_members ${on_cluster} ADD COLUMN IF NOT EXISTS stand_ins Array(UUID) DEFAULT [];
-- Whether the row is in the sample from which partners see how many rows are suppressed.
ALTER TABLE judged_lines ${on_cluster} ADD COLUMN IF NOT EXISTS is_sampled UInt8 DEFAULT 0;
ALTER TABLE judged_members ${on_cluster} ADD COLUMN IF NOT EXISTS is_sampled UInt8 DEFAULT 0;
ALTER TABLE load_counts_local ${on_cluster} ADD COLUMN IF NOT EXISTS suppressed_rows UInt64 DEFAULT 0;
ALTER TABLE load_counts ${on_cluster} ADD COLUMN IF NOT EXISTS suppressed_rows UInt64 DEFAULT 0;
ALTER TABLE load_counts_local ${on_cluster} ADD COLUMN IF NOT EXISTS sampled_rows UInt64 DEFAULT 0;
ALTER TABLE load_counts ${on_cluster} ADD COLUMN IF NOT EXISTS sampled_rows UInt64 DEFAULT 0;

-- contract, safe from 0.1.0 on: the view fills two more columns, and older workers do not read them
ALTER TABLE judged_lines_to_load_counts ${on_cluster} MODIFY QUERY
SELECT load_id, file_id, reason, count() AS rows, sum(bytes) AS bytes, min(row) AS first_row,
       sum(if(reason = '', length(attribute_ids), 0)) AS staged_rows,
       countIf(notEmpty(stand_ins)) AS suppressed_rows, sum(toUInt64(is_sampled)) AS sampled_rows
FROM judged_lines GROUP BY load_id, file_id, reason;

-- contract, safe from 0.1.0 on: the view fills two more columns, and older workers do not read them
ALTER TABLE judged_members_to_load_counts ${on_cluster} MODIFY QUERY
SELECT load_id, file_id, reason, count() AS rows, sum(bytes) AS bytes, min(row) AS first_row,
       countIf(notEmpty(stand_ins)) AS suppressed_rows, sum(toUInt64(is_sampled)) AS sampled_rows
FROM judged_members GROUP BY load_id, file_id, reason;

-- contract, safe from 0.1.0 on: rows of older workers have no stand-ins, so nothing changes for them
ALTER TABLE judged_lines_to_staged_attributes ${on_cluster} MODIFY QUERY
SELECT load_id, partner_id, arrayJoin(attribute_ids) AS attribute_id, device, id_type, country, version, is_deleted
FROM judged_lines WHERE reason = '' AND empty(stand_ins);

-- contract, safe from 0.1.0 on: rows of older workers have no stand-ins, so nothing changes for them
ALTER TABLE judged_lines_to_staged_devices ${on_cluster} MODIFY QUERY
SELECT job_id, load_id, device, toUInt8(NOT is_deleted) AS is_add FROM judged_lines WHERE reason = '' AND empty(stand_ins);

-- contract, safe from 0.1.0 on: rows of older workers have no stand-ins, so nothing changes for them
ALTER TABLE judged_members_to_staged_members ${on_cluster} MODIFY QUERY
SELECT load_id, file_id, device, event FROM judged_members WHERE reason = '' AND empty(stand_ins);

-- The first stand-in of a line is its known device. One per attribute follows. Nothing else of the line is stored.
CREATE MATERIALIZED VIEW IF NOT EXISTS suppressed_lines_to_staged_attributes ${on_cluster} TO staged_attributes AS
SELECT load_id, partner_id, one.1 AS attribute_id, one.2 AS device, toUInt8(0) AS id_type, '' AS country, version, is_deleted
FROM (
  SELECT load_id, partner_id, version, is_deleted, arrayJoin(arrayZip(attribute_ids, arrayPopFront(stand_ins))) AS one
  FROM judged_lines WHERE notEmpty(stand_ins)
);
CREATE MATERIALIZED VIEW IF NOT EXISTS suppressed_lines_to_staged_devices ${on_cluster} TO staged_devices AS
SELECT job_id, load_id, stand_ins[1] AS device, toUInt8(NOT is_deleted) AS is_add FROM judged_lines WHERE notEmpty(stand_ins);

-- The second value distinguishes rows of one device with different events, so that they are counted as different rows.
CREATE MATERIALIZED VIEW IF NOT EXISTS suppressed_members_to_staged_members ${on_cluster} TO staged_members AS
SELECT load_id, file_id, stand_ins[1] AS device, lower(hex(reinterpretAsUInt64(stand_ins[2]))) AS event FROM judged_members WHERE notEmpty(stand_ins);
