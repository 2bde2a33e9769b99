-- Published rows are on disk before an insert is confirmed. Otherwise, a power failure could lose rows of loads that PostgreSQL
-- records as done. The shared stage is not synced: if a load is lost before it is published, its row account differs and its
-- files are loaded again. Merges are not synced either: ClickHouse keeps the merged parts for eight minutes, which is longer than
-- the operating system waits before it writes.
ALTER TABLE device_attributes_local ${on_cluster} MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE audience_devices_local ${on_cluster} MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE known_devices_local ${on_cluster} MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
