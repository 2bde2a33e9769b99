import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownKeys, lineOf, maxLineBytes } from '../../../test/support/arbitrary-lines.ts';
import { type RowLayout, canBeForeignKey, fiveColumns, memberColumns, rowRule, twoColumns } from './row-rule.ts';
import { type LineContext, validateRow } from './validate-row.ts';
import { RowValidator } from './validate-rows.ts';

type Validated = { readonly rows: number; readonly accepted: number; readonly rejected: readonly string[] };

function oneByOne(content: Buffer, context: LineContext): Validated {
  const lines = content.toString('latin1').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const statuses = lines.map((line, index) => validateRow(Buffer.from(line, 'latin1'), index + 1, context));
  return {
    rows: lines.length,
    accepted: statuses.filter(({ outcome }) => outcome === 'accepted').length,
    rejected: statuses.flatMap((status, index) =>
      status.outcome === 'rejected' ? [`${index + 1} ${status.reason}`] : [],
    ),
  };
}

function inChunks(content: Buffer, chunkSizes: readonly number[], context: LineContext): Validated {
  const rejected: string[] = [];
  const validator = new RowValidator(context, maxLineBytes, (row, reason) => rejected.push(`${row} ${reason}`));
  let start = 0;
  for (let chunk = 0; start < content.length; chunk += 1) {
    const end = start + (chunkSizes[chunk % chunkSizes.length] ?? 1);
    validator.push(content.subarray(start, end));
    start = end;
  }
  validator.end();
  return { rows: validator.row, accepted: validator.accepted, rejected };
}

/**
 * Returns every line, followed by lines that combine the ID of one line with the rest of another. The combined
 * lines contain known parts in new combinations.
 */
function crossed(lines: readonly Buffer[], steps: readonly number[]): Buffer[] {
  const others = steps.flatMap((step) =>
    lines.map((line, index) =>
      Buffer.concat([line.subarray(0, 36), (lines[(index + step) % lines.length] ?? line).subarray(36)]),
    ),
  );
  return [...lines, ...others];
}

const layouts: readonly RowLayout[] = [
  { delimiter: ',', headerRow: null, columns: twoColumns },
  { delimiter: '\t', headerRow: 3, columns: twoColumns },
  { delimiter: ',', headerRow: 1, columns: fiveColumns },
  { delimiter: '\t', headerRow: null, columns: fiveColumns },
  { delimiter: ',', headerRow: null, columns: memberColumns },
  { delimiter: '\t', headerRow: 1, columns: memberColumns },
  { delimiter: ',', headerRow: null, columns: fiveColumns, unhyphenatedIds: true },
];
const keys = [
  { what: 'known', attributeIdByKey: knownKeys },
  { what: 'checked by form', attributeIdByKey: { has: canBeForeignKey, get: () => 0 } },
];

describe('RowValidator', { timeout: 60_000 }, () => {
  it.each(layouts.flatMap((layout) => keys.map((key) => ({ ...key, layout }))))(
    'returns the same statuses as validateRow ($layout.columns, keys $what)',
    ({ layout, attributeIdByKey }) => {
      const context = { layout, rule: rowRule(layout, maxLineBytes), attributeIdByKey };
      const some = fc.array(lineOf(layout), { minLength: 1, maxLength: 30 });
      const steps = fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 3 });
      const chunkSizes = fc.oneof(
        fc.constant([1_000_000]),
        fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 5 }),
      );
      fc.assert(
        fc.property(some, steps, chunkSizes, fc.constantFrom('', '\n'), (lines, by, sizes, last) => {
          const parts = crossed(lines, by).flatMap((line) => [Buffer.from('\n'), line]);
          const content = Buffer.concat([...parts.slice(1), Buffer.from(last)]);
          expect(inChunks(content, sizes, context)).toEqual(oneByOne(content, context));
        }),
        { numRuns: 100 },
      );
    },
  );

  it('buffers only as much of an endless line as it needs to reject the line', () => {
    const layout: RowLayout = { delimiter: ',', headerRow: null, columns: twoColumns };
    const context = { layout, rule: rowRule(layout, maxLineBytes), attributeIdByKey: knownKeys };
    let kept = 0;
    const validator = new RowValidator(context, maxLineBytes, (_row, reason, raw) => {
      kept = raw.length;
      expect(reason).toBe('line_too_long');
    });
    for (let n = 0; n < 1_000; n += 1) validator.push(Buffer.alloc(1_000, 'x'));
    expect(validator.openLineBytes).toBe(1_000_000);
    validator.end();
    expect(kept).toBe(maxLineBytes + 5);
  });
});
