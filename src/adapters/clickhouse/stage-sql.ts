import type { RowLayout } from '../../domain/row-layout.ts';
import { rowRule } from '../../domain/row-rule.ts';
import type { LoadTarget } from '../../ports/load-stage.ts';
import { isDataRowSql, judgedLineSql } from './row-rule-sql.ts';

/** What a line may have beside its own bytes, a byte-order mark and a carriage return, and one byte too many. */
const longestMarks = 5;

/** How the bytes come: the lines of one file, or many small files, each with the number of its header line. */
export type Arrival = 'lines' | 'files';

/**
 * The statement that takes the bytes of a load. Row numbers are given before blank lines are left out, so that they are
 * line numbers of the file. Of a line that is too long only so much is judged that it still is: with all of it, a line
 * of 60 MB of delimiters takes a gigabyte.
 */
export function stageSql(kind: LoadTarget['kind'], arrival: Arrival, layout: RowLayout, maxLineBytes: number): string {
  const { into, scope, values } = destinations[kind];
  return `${into}
WITH
  ${scope}${judgedLineSql(layout, rowRule(layout, maxLineBytes))}
SELECT ${values}
FROM (
  SELECT file_id, header_row, row, length(bytes) + 1 AS size,
    substring(bytes, 1, ${maxLineBytes + longestMarks}) AS raw
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

const destinations: Readonly<
  Record<LoadTarget['kind'], { readonly into: string; readonly scope: string; readonly values: string }>
> = {
  attributes: {
    into: `INSERT INTO judged_lines
    (partner_id, job_id, load_id, file_id, version, row, bytes, reason, device, id_type, country, is_deleted,
     attribute_ids, line)`,
    scope: `(
    SELECT (groupArray(key), groupArray(meaning)) FROM (
      SELECT key, min(attribute_id) AS meaning FROM job_keys WHERE job_id = {job: UInt64} GROUP BY key
    )
  ) AS job_keys,
  job_keys.1 AS keys,
  job_keys.2 AS attribute_ids,
  `,
    values: `{partner: UInt64}, {job: UInt64}, {load: UInt64}, file_id,
  if(is_delete, {version_of_deletes: UInt64}, {version_of_adds: UInt64}),
  row, size, reason, device, id_type, country, is_delete, row_attribute_ids, line`,
  },
  audience: {
    into: `INSERT INTO judged_members (load_id, file_id, row, bytes, reason, device, event, line)`,
    scope: '',
    values: `{load: UInt64}, file_id, row, size, reason, device, event, line`,
  },
};
