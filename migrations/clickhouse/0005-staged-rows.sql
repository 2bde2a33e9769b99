-- The number of rows that the accepted lines of an import produce in the stage: one per device and attribute. A worker
-- compares it with the rows on all shards before it commits the load.
ALTER TABLE load_counts_local ${on_cluster} ADD COLUMN IF NOT EXISTS staged_rows UInt64 DEFAULT 0;
ALTER TABLE load_counts ${on_cluster} ADD COLUMN IF NOT EXISTS staged_rows UInt64 DEFAULT 0;

-- contract, safe from 0.1.0 on: the view fills one more column, and older workers do not read it
ALTER TABLE judged_lines_to_load_counts ${on_cluster} MODIFY QUERY
SELECT load_id, file_id, reason, count() AS rows, sum(bytes) AS bytes, min(row) AS first_row,
       sum(if(reason = '', length(attribute_ids), 0)) AS staged_rows
FROM judged_lines GROUP BY load_id, file_id, reason;
