import * as fc from 'fast-check';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeEngine, connectEngine, type Engine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { judgeLine, type LineContext } from '../../src/domain/judge-line.ts';
import type { RowLayout } from '../../src/domain/row-layout.ts';
import { twoColumns } from '../../src/domain/row-layout.ts';
import { rowRule } from '../../src/domain/row-rule.ts';
import { createStores, type TestStores } from '../support/stores.ts';

// The same lines go to the domain's judge and to the engine; every verdict is compared.

const maxLineBytes = 300;
const keys = new Map([
  ['1', 1],
  ['22', 22],
  ['key with space', 3],
  ['ключ', 4],
  ['quo"te', 5],
]);

const hex = fc.constantFrom(...'0123456789abcdefABCDEF'.split(''));
const hexOf = (length: number): fc.Arbitrary<string> =>
  fc.array(hex, { minLength: length, maxLength: length }).map((digits) => digits.join(''));
const advertisingId = fc.tuple(hexOf(8), hexOf(4), hexOf(4), hexOf(4), hexOf(12)).map((parts) => parts.join('-'));
const oddId = fc.oneof(
  fc.constant('00000000-0000-0000-0000-000000000000'),
  fc.constant(''),
  ...[8, 32, 36, 40, 64].map(hexOf),
  advertisingId.map((id) => ` ${id}`),
  advertisingId.map((id) => id.replaceAll('-', '')),
  advertisingId.map((id) => `{${id}}`),
  advertisingId.map((id) => `${id}\0`),
  fc.string({ maxLength: 40 }),
);
const key = fc.oneof(
  fc.constantFrom(...keys.keys()),
  fc.constantFrom('', '01', '999', ' 1', 'Ключ'),
  fc.string({ maxLength: 5 }),
);
const keyList = fc.array(key, { minLength: 1, maxLength: 4 }).map((list) => list.join('|'));
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const field = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: value },
    { weight: 2, arbitrary: value.map(quoted) },
    value.map((text) => `"${text}`),
  );
const bytes = (text: string): Buffer => Buffer.from(text.replaceAll('\n', ' '));

/** Overlong, a surrogate, beyond the last code point, cut off, a lone continuation. */
const invalidUtf8 = ['c080', 'eda080', 'f4908080', 'e282', '80'].map((digits) => Buffer.from(digits, 'hex'));

function lineOf(delimiter: string): fc.Arbitrary<Buffer> {
  const id = field(fc.oneof({ weight: 3, arbitrary: advertisingId }, oddId));
  const row = fc.tuple(id, field(keyList)).map((fields) => fields.join(delimiter));
  return fc.oneof(
    { weight: 8, arbitrary: row.map(bytes) },
    { weight: 2, arbitrary: row.map((text) => bytes(`${text}\r`)) },
    row.map((text) => bytes(`\uFEFF${text}`)),
    row.map((text) => bytes(`${text}${delimiter}x`)),
    row.map((text) => bytes(text.padEnd(maxLineBytes + 1, '|1'))),
    fc
      .tuple(row, fc.uint8Array({ minLength: 1, maxLength: 6 }))
      .map(([text, junk]) =>
        Buffer.concat([bytes(text), Buffer.from(junk).map((byte) => (byte === 0x0a ? 0xff : byte))]),
      ),
    row.chain((text) => fc.constantFrom(...invalidUtf8).map((junk) => Buffer.concat([bytes(text), junk]))),
    fc.constantFrom('', '\r', '\r\r', '"', '""', ',', '\t', '\0', 'id,keys').map(bytes),
    fc.string({ unit: 'binary', maxLength: 60 }).map(bytes),
  );
}

type EngineVerdict = { row: number; reason: string; device: string; attribute_ids: number[] };

describe('the row rule', () => {
  let stores: TestStores;
  let engine: Engine;
  let nextLoad = 1;

  beforeAll(async () => {
    stores = await createStores('one');
    engine = connectEngine({
      urls: stores.config.INLET_CLICKHOUSE_URLS,
      database: stores.database,
      cluster: stores.config.INLET_CLICKHOUSE_CLUSTER,
      name: 'test',
    });
    await clickhouseWarehouse(engine).writeJobKeys(
      1,
      Array.from(keys, ([text, attributeId]) => ({ key: text, attributeId })),
    );
    // Keeps every judged line, where the service keeps only counts and the first rejects.
    await engine.shards[0].command({
      query:
        'CREATE TABLE verdicts (load_id UInt64, row UInt64, reason String, device UUID, attribute_ids Array(UInt64)) ENGINE = MergeTree ORDER BY row',
    });
    await engine.shards[0].command({
      query:
        'CREATE MATERIALIZED VIEW to_verdicts TO verdicts AS SELECT load_id, row, reason, device, attribute_ids FROM judged_lines',
    });
  });

  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  const judgeInEngine = async (lines: readonly Buffer[], layout: RowLayout): Promise<EngineVerdict[]> => {
    const load = { loadId: nextLoad++, fileId: 1, jobId: 1, partnerId: 1, version: 1 };
    const body = Readable.from([Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))]);
    const source = { body, isGzip: false, layout, maxLineBytes };
    await clickhouseWarehouse(engine).stage(load, source, new AbortController().signal);
    const result = await engine.shards[0].query({
      query: `SELECT toUInt32(row) AS row, reason, device, attribute_ids FROM verdicts WHERE load_id = ${load.loadId} ORDER BY row`,
      format: 'JSONEachRow',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    });
    return result.json<EngineVerdict>();
  };

  const judgeInDomain = (lines: readonly Buffer[], layout: RowLayout): EngineVerdict[] => {
    const context: LineContext = { layout, rule: rowRule(layout, maxLineBytes), attributeIdByKey: keys };
    return lines.flatMap((line, index) => {
      const verdict = judgeLine(line, index + 1, context);
      if (verdict.outcome === 'skipped') return [];
      return verdict.outcome === 'accepted'
        ? [{ row: index + 1, reason: '', device: verdict.device, attribute_ids: [...verdict.attributeIds] }]
        : [{ row: index + 1, reason: verdict.reason, device: '', attribute_ids: [] }];
    });
  };

  it.each([
    { delimiter: ',', headerRow: null },
    { delimiter: ',', headerRow: 1 },
    { delimiter: '\t', headerRow: 3 },
  ] as const)(
    'gives the same verdict in the engine and in the domain ($delimiter, header $headerRow)',
    async (shape) => {
      const layout: RowLayout = { ...shape, columns: twoColumns };
      const seen = new Set<string>();
      await fc.assert(
        fc.asyncProperty(fc.array(lineOf(shape.delimiter), { minLength: 200, maxLength: 400 }), async (lines) => {
          const expected = judgeInDomain(lines, layout);
          const found = await judgeInEngine(lines, layout);
          for (const { reason } of expected) seen.add(reason);
          const accepted = (verdict: EngineVerdict): EngineVerdict =>
            verdict.reason === '' ? verdict : { ...verdict, device: '', attribute_ids: [] };
          expect(found.map(accepted)).toEqual(expected);
        }),
        { numRuns: 40 },
      );
      // The generator reaches every reason; otherwise the comparison would say nothing about it.
      expect([...seen].toSorted()).toEqual(
        ['', ...rowRule(layout, maxLineBytes).map(({ reason }) => reason)].toSorted(),
      );
    },
  );
});
