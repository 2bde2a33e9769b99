import * as fc from 'fast-check';
import { type LineContext, validateRow } from '@inlet/row-rule/validate-row';
import { type RowLayout, fiveColumns, memberColumns, rowRule, twoColumns } from '@inlet/row-rule/row-rule';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../../src/adapters/clickhouse/load-stage.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { jobKeys, knownKeys, lineOf, maxLineBytes } from '../support/arbitrary-lines.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { asTheyCome, attributeLoad, memberLoad } from '../support/staging.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';

// Validates the same lines in the domain and in ClickHouse, and compares every result.

type RowResult = {
  row: number;
  reason: string;
  device: string;
  id_type: number;
  country: string;
  is_deleted: number;
  attribute_ids: number[];
  event: string;
};

/** Whether a file is loaded alone or in a batch with others. */
type Arrival = 'lines' | 'files';

const columns = 'row, reason, device, id_type, country, is_deleted, attribute_ids, event';
const nothing = { device: '', id_type: 0, country: '', is_deleted: 0, attribute_ids: [], event: '' };

describe('the row rule', () => {
  let stores: TestStores;
  let engine: Engine;
  let nextLoad = 1;

  beforeAll(async () => {
    stores = await createStores('one');
    engine = connectTestEngine(stores);
    const keys = Array.from(jobKeys, ([key, attributeId]) => ({ key, attributeId }));
    await clickhouseWarehouse(engine).writeJobKeys(1, keys);
    // Stores the result of every line. The service stores only counts and the first rejected rows.
    await engine.shards[0][0].command({
      query: `CREATE TABLE row_results (load_id UInt64, row UInt64, reason String, device UUID, id_type UInt8, country String,
        is_deleted UInt8, attribute_ids Array(UInt64), event String) ENGINE = MergeTree ORDER BY row`,
    });
    const views = {
      judged_lines: columns.replace('event', `'' AS event`),
      judged_members: columns.replace(
        'id_type, country, is_deleted, attribute_ids',
        `0 AS id_type, '' AS country, 0 AS is_deleted, emptyArrayUInt64() AS attribute_ids`,
      ),
    };
    for (const [table, values] of Object.entries(views)) {
      await engine.shards[0][0].command({
        query: `CREATE MATERIALIZED VIEW ${table}_to_results TO row_results AS SELECT load_id, ${values} FROM ${table}`,
      });
    }
  });

  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  const validateInEngine = async (
    lines: readonly Buffer[],
    layout: RowLayout,
    arrival: Arrival,
  ): Promise<RowResult[]> => {
    const isAudience = layout.columns === memberColumns;
    const load = isAudience
      ? memberLoad(nextLoad++, { jobId: 1, partnerId: 1, audienceId: 1, generation: 0 })
      : attributeLoad(nextLoad++, { id: 1, partnerId: 1 });
    const content = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]));
    const stage = clickhouseLoadStage(engine, stores.config.INLET_ROOM_BYTES);
    const { signal } = new AbortController();
    if (arrival === 'lines') {
      const file = { fileId: 1, body: Readable.from([content]), isGzip: false, layout };
      await stage.stage(load, file, maxLineBytes, signal);
    } else await stage.stageTogether(load, asTheyCome([{ fileId: 1, content, layout }]), maxLineBytes, signal);
    const result = await engine.shards[0][0].query({
      query: `SELECT ${columns} FROM row_results WHERE load_id = ${load.loadId} ORDER BY row`,
      format: 'JSONEachRow',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    });
    const results = await result.json<RowResult>();
    return results.map((row) => (row.reason === '' ? row : { ...row, ...nothing }));
  };

  const validateInDomain = (lines: readonly Buffer[], layout: RowLayout): RowResult[] => {
    const context: LineContext = { layout, rule: rowRule(layout, maxLineBytes), attributeIdByKey: knownKeys };
    return lines.flatMap((line, index) => {
      const result = validateRow(line, index + 1, context);
      if (result.outcome === 'skipped') return [];
      if (result.outcome === 'rejected') return [{ row: index + 1, reason: result.reason, ...nothing }];
      const { device, idType, country, operation, attributeIds, event } = result.row;
      const values = {
        device,
        id_type: idType,
        country,
        is_deleted: operation,
        attribute_ids: [...attributeIds],
        event,
      };
      return [{ row: index + 1, reason: '', ...values }];
    });
  };

  const layouts: (RowLayout & { readonly arrival: Arrival })[] = [
    { delimiter: ',', headerRow: null, columns: twoColumns, arrival: 'lines' },
    { delimiter: '\t', headerRow: 3, columns: twoColumns, arrival: 'files' },
    { delimiter: ',', headerRow: 1, columns: fiveColumns, arrival: 'files' },
    { delimiter: '\t', headerRow: null, columns: fiveColumns, arrival: 'lines' },
    { delimiter: ',', headerRow: null, columns: memberColumns, arrival: 'lines' },
    { delimiter: '\t', headerRow: 1, columns: memberColumns, arrival: 'files' },
    { delimiter: ',', headerRow: null, columns: twoColumns, unhyphenatedIds: true, arrival: 'lines' },
    { delimiter: '\t', headerRow: 1, columns: fiveColumns, unhyphenatedIds: true, arrival: 'files' },
    { delimiter: ',', headerRow: null, columns: memberColumns, unhyphenatedIds: true, arrival: 'lines' },
  ];

  it.each(layouts)(
    'returns the same result in ClickHouse and in the domain ($columns, header $headerRow, as $arrival, IDs without hyphens: $unhyphenatedIds)',
    async ({ arrival, ...layout }) => {
      const seen = new Set<string>();
      await fc.assert(
        fc.asyncProperty(fc.array(lineOf(layout), { minLength: 300, maxLength: 500 }), async (lines) => {
          const expected = validateInDomain(lines, layout);
          expect(await validateInEngine(lines, layout, arrival)).toEqual(expected);
          for (const { reason } of expected) seen.add(reason);
        }),
        { numRuns: runsOf({ short: 5, long: 30 }), seed: campaignSeed },
      );
      // The generator must produce every reason. Otherwise, the comparison would not cover it.
      const reasons = rowRule(layout, maxLineBytes).map(({ reason }) => reason);
      expect([...seen].toSorted()).toEqual(['', ...reasons].toSorted());
    },
  );
});
