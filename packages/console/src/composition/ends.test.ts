import type { CompositionEntry } from '@inlet/sdk/browser';
import { describe, expect, it } from 'vitest';
import { endsIn, withoutDuplicates } from './ends.ts';
import type { ReportQuery } from './use-report.ts';

const entry = (attribute_id: number, value?: string): CompositionEntry => ({
  attribute_id,
  name: 'travel',
  provider: 'acme',
  ...(value === undefined ? {} : { value }),
  devices: null,
  devices_range: null,
  share: null,
  warehouse_devices: 0,
  warehouse_share: null,
  index: null,
  index_range: null,
  small: false,
});
const attributes = [entry(1), entry(2)];
const page = (entries: number, small = 0) => ({ attributes, totals: { entries, small, hidden: 0 } });
const query: ReportQuery = { order: 'index', small: 'omit' };

describe('the ends of a report that are on its first page', () => {
  it('are both ends if there are no more pages', () => {
    for (const order of ['index', 'lowest_index', 'devices'] as const)
      expect(endsIn(page(3, 1), { ...query, order })).toEqual({ index: attributes, lowest_index: attributes });
  });

  it('are the highest indexes if there are more pages', () => {
    expect(endsIn(page(3), query)).toEqual({ index: attributes });
  });

  it('are unknown if there are more pages and another sort order', () => {
    expect(endsIn(page(3), { ...query, order: 'devices' })).toEqual({});
    expect(endsIn(page(3), { ...query, order: 'lowest_index' })).toEqual({});
  });

  it('are unknown if small groups are listed or the report is filtered by name', () => {
    expect(endsIn(page(2), { ...query, small: 'include' })).toEqual({});
    expect(endsIn(page(2), { ...query, name: 'travel' })).toEqual({});
  });
});

describe('entries of both ends', () => {
  it('contain every combination of attribute and value only once', () => {
    const [one, other] = [entry(1, 'DE'), entry(1, 'FR')];
    expect(withoutDuplicates([one, other, one])).toEqual([one, other]);
  });
});
