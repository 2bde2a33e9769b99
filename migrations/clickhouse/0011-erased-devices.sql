-- batch_id is the number of the list (erasure_batch.list_id in PostgreSQL), which changes each time a list is written.
-- The devices that a running erasure removes. The mutations read them from this table, which is dropped by partition when the
-- erasure has ended. Every shard has all devices of the request, because rejected lines are not stored on the shard of their device.
-- Kind 0: the requested devices, for one partner, or for all partners (0). Kind 1: devices that are no longer known. Kind 2: devices
-- without any row, whose number is removed from the device index. Kind 3: rejected lines that contain a requested device. Kind 4:
-- such lines of any partner, before their owners are known.
CREATE TABLE IF NOT EXISTS erased_devices_local ${on_cluster} (
  batch_id      UInt64,
  kind          UInt8,
  partner_id    UInt64,
  device        UUID,
  load_id       UInt64,
  file_id       UInt64,
  row           UInt64
) ENGINE = ${replicated}ReplacingMergeTree PARTITION BY (batch_id, kind) ORDER BY (kind, partner_id, device, load_id, file_id, row)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
