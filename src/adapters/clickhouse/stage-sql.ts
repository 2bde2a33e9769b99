import type { RowLayout } from '@inlet/row-rule/row-layout';
import type { LoadTarget } from '../../ports/load-stage.ts';
import { reasonSql } from './load-results.ts';
import { isDataRowSql, judgedLineSql, rawSql } from './row-rule-sql.ts';

/** How the bytes come: the lines of one file, or many small files, each with the number of its header line. */
export type Arrival = 'lines' | 'files';

/**
 * The statement that takes the bytes of a load, into the stage that all loads share or into a room of its own. Row
 * numbers are given before blank lines are left out, so that they are line numbers of the file.
 */
export function stageSql(
  kind: LoadTarget['kind'],
  arrival: Arrival,
  layout: RowLayout,
  maxLineBytes: number,
  room: string | null = null,
): string {
  const { keys, shared, own } = destinations[kind];
  return `INSERT INTO ${room === null ? shared.into : `${room} ${own.into}`}
WITH
  ${keys}${judgedLineSql(layout, maxLineBytes)}
SELECT ${room === null ? shared.values : own.values}
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

/** What the rows of a load have in common stands in the views of its room, but in each row of the shared stage. */
type Destination = { readonly into: string; readonly values: string };

/** Nobody looks at a good line again. */
const badLine = `if(verdict = 0, '', line)`;

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
  row, size, ${reasonSql('verdict')}, device, id_type, country, is_delete, row_attribute_ids, line`,
    },
    own: {
      into: '(file_id, row, bytes, verdict, device, id_type, country, is_deleted, attribute_ids, line)',
      values: `file_id, row, size, verdict, device, id_type, country, is_delete, row_attribute_ids, ${badLine}`,
    },
  },
  audience: {
    keys: '',
    shared: {
      into: 'judged_members (load_id, file_id, row, bytes, reason, device, event, line)',
      values: `{load: UInt64}, file_id, row, size, ${reasonSql('verdict')}, device, event, line`,
    },
    own: {
      into: '(file_id, row, bytes, verdict, device, event, line)',
      values: `file_id, row, size, verdict, device, event, ${badLine}`,
    },
  },
};
