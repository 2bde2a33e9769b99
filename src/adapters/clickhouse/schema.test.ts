import { describe, expect, it } from 'vitest';
import { migrationFolder } from '../migration-files.ts';
import { parseSchema, readSchema } from './schema.ts';

describe('the expected schema of a shard', () => {
  it('contains the type of each column without codecs and defaults', () => {
    const dump = `CREATE TABLE {database}.counts
(
    \`load_id\` UInt64,
    \`reason\` LowCardinality(String) CODEC(LZ4),
    \`loaded_on\` Date DEFAULT today()
)
ENGINE = MergeTree
ORDER BY load_id;

CREATE MATERIALIZED VIEW {database}.lines_to_counts TO {database}.counts
(
    \`load_id\` UInt64
)
AS SELECT load_id
FROM {database}.lines;
`;
    expect(parseSchema(dump)).toEqual(
      new Map([
        [
          'counts',
          new Map([
            ['load_id', 'UInt64'],
            ['reason', 'LowCardinality(String)'],
            ['loaded_on', 'Date'],
          ]),
        ],
        ['lines_to_counts', new Map([['load_id', 'UInt64']])],
      ]),
    );
  });

  it('is read from the dump of the migrations', async () => {
    const schema = await readSchema(migrationFolder('clickhouse'));
    expect(schema.get('device_attributes_local')?.get('version')).toBe('UInt64');
    expect(schema.get('judged_lines_to_load_counts')?.get('staged_rows')).toBe('UInt64');
  });
});
