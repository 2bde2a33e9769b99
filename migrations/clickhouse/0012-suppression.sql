-- The suppression list: hashes of devices whose rows are not stored. Every server has the whole list, because every server
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

-- How many accepted rows of a load belong to suppressed devices, and the number of these devices.
ALTER TABLE judged_lines ${on_cluster} ADD COLUMN IF NOT EXISTS is_suppressed UInt8 DEFAULT 0;
ALTER TABLE judged_members ${on_cluster} ADD COLUMN IF NOT EXISTS is_suppressed UInt8 DEFAULT 0;
ALTER TABLE load_counts_local ${on_cluster} ADD COLUMN IF NOT EXISTS suppressed_rows UInt64 DEFAULT 0;
ALTER TABLE load_counts ${on_cluster} ADD COLUMN IF NOT EXISTS suppressed_rows UInt64 DEFAULT 0;
ALTER TABLE load_counts_local ${on_cluster} ADD COLUMN IF NOT EXISTS suppressed_devices AggregateFunction(uniqExact, UUID);
ALTER TABLE load_counts ${on_cluster} ADD COLUMN IF NOT EXISTS suppressed_devices AggregateFunction(uniqExact, UUID);

-- contract, safe from 0.1.0 on: the view fills two more columns, and older workers do not read them
ALTER TABLE judged_lines_to_load_counts ${on_cluster} MODIFY QUERY
SELECT load_id, file_id, reason, count() AS rows, sum(bytes) AS bytes, min(row) AS first_row,
       sum(if(reason = '', length(attribute_ids), 0)) AS staged_rows,
       sum(toUInt64(is_suppressed)) AS suppressed_rows, uniqExactStateIf(device, is_suppressed) AS suppressed_devices
FROM judged_lines GROUP BY load_id, file_id, reason;

-- contract, safe from 0.1.0 on: the view fills two more columns, and older workers do not read them
ALTER TABLE judged_members_to_load_counts ${on_cluster} MODIFY QUERY
SELECT load_id, file_id, reason, count() AS rows, sum(bytes) AS bytes, min(row) AS first_row,
       sum(toUInt64(is_suppressed)) AS suppressed_rows, uniqExactStateIf(device, is_suppressed) AS suppressed_devices
FROM judged_members GROUP BY load_id, file_id, reason;
