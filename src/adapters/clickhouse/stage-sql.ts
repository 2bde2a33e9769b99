import type { RowLayout } from '@inlet/row-rule/row-layout';
import type { LoadTarget } from '../../ports/load-stage.ts';
import { reasonSql } from './load-results.ts';
import { isDataRowSql, rowStatusSql, rawSql } from './row-rule-sql.ts';

/** The input of a statement: the lines of one file, or many small files, each with its header's line number. */
export type Arrival = 'lines' | 'files';

/**
 * Returns the INSERT statement that receives a load's bytes. It writes to the shared stage or to a staging table. Rows
 * are numbered before blank lines are dropped, so that row numbers equal line numbers in the file.
 */
export function stageSql(
  kind: LoadTarget['kind'],
  arrival: Arrival,
  layout: RowLayout,
  maxLineBytes: number,
  stagingTable: string | null = null,
): string {
  const { keys, shared, own } = destinations[kind];
  return `INSERT INTO ${stagingTable === null ? shared.into : `${stagingTable} ${own.into}`}
WITH
  ${keys}${rowStatusSql(layout, maxLineBytes)}
SELECT ${stagingTable === null ? shared.values : own.values}
FROM (
  SELECT file_id, header_row, row, length(bytes) + 1 AS size, ${rawSql(maxLineBytes)} AS raw
  FROM (${arrivals[arrival].lines})
)
WHERE ${isDataRowSql}
FORMAT ${arrivals[arrival].format}`;
}

const arrivals: Readonly<Record<Arrival, { readonly lines: string; readonly format: string }>> = {
  lines: {
    lines: `SELECT {file: UInt64} AS file_id, {header_row: UInt32} AS header_row,
      rowNumberInAllBlocks() + 1 AS row, bytes FROM input('bytes String')`,
    format: 'LineAsString',
  },
  files: {
    lines: `SELECT file_id, header_row, row, bytes
      FROM (
        SELECT file_id, header_row, splitByChar('\\n', content) AS contents
        FROM input('file_id UInt64, header_row UInt32, content String')
      )
      ARRAY JOIN contents AS bytes, arrayEnumerate(contents) AS row`,
    format: 'RowBinary',
  },
};

/**
 * Values that all rows of a load share are constants in a staging table's views. In the shared stage, they are columns.
 */
type Destination = { readonly into: string; readonly values: string };

/** Omits the text of an accepted line, because it is not needed again. */
const rejectedLine = `if(row_status = 0, '', line)`;

const destinations: Readonly<
  Record<LoadTarget['kind'], { readonly keys: string; readonly shared: Destination; readonly own: Destination }>
> = {
  attributes: {
    keys: `(
    SELECT (groupArray(key), groupArray(meaning)) FROM (
      SELECT key, min(attribute_id) AS meaning FROM job_keys WHERE job_id = {job: UInt64} GROUP BY key
    )
  ) AS job_keys,
  job_keys.1 AS keys,
  job_keys.2 AS attribute_ids,
  `,
    shared: {
      into: `judged_lines
    (partner_id, job_id, load_id, file_id, version, row, bytes, reason, device, id_type, country, is_deleted,
     attribute_ids, line)`,
      values: `{partner: UInt64}, {job: UInt64}, {load: UInt64}, file_id,
  if(is_delete, {version_of_deletes: UInt64}, {version_of_adds: UInt64}),
  row, size, ${reasonSql('row_status')}, device, id_type, country, is_delete, row_attribute_ids, line`,
    },
    own: {
      into: '(file_id, row, bytes, row_status, device, id_type, country, is_deleted, attribute_ids, line)',
      values: `file_id, row, size, row_status, device, id_type, country, is_delete, row_attribute_ids, ${rejectedLine}`,
    },
  },
  audience: {
    keys: '',
    shared: {
      into: 'judged_members (load_id, file_id, row, bytes, reason, device, event, line)',
      values: `{load: UInt64}, file_id, row, size, ${reasonSql('row_status')}, device, event, line`,
    },
    own: {
      into: '(file_id, row, bytes, row_status, device, event, line)',
      values: `file_id, row, size, row_status, device, event, ${rejectedLine}`,
    },
  },
};
