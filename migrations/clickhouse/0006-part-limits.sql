-- ClickHouse delays and rejects inserts by the number of parts in the largest partition of the table, so one partner's large
-- file would stop the inserts of all partners. Inlet limits the parts of the partition that it writes to instead.
ALTER TABLE device_attributes_local ${on_cluster}
  MODIFY SETTING parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000;
ALTER TABLE audience_devices_local ${on_cluster}
  MODIFY SETTING parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000;
ALTER TABLE staged_attributes_local ${on_cluster}
  MODIFY SETTING parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000;
ALTER TABLE staged_members_local ${on_cluster}
  MODIFY SETTING parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000;
ALTER TABLE staged_devices_local ${on_cluster}
  MODIFY SETTING parts_to_delay_insert = 100000, parts_to_throw_insert = 100000, max_parts_in_total = 1000000;
