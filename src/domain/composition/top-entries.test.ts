import { describe, expect, it } from 'vitest';
import { type Order, type ReportEntry, topEntries } from './protection.ts';

function entry(attributeId: number, devices: number | null, index: number | null, value = 'DE'): ReportEntry {
  return { attributeId, value, devices, share: 0, warehouseDevices: 0, warehouseShare: 0, index, small: false };
}

const entries = [
  entry(4, null, null, 'FR'),
  entry(1, 100, 2),
  entry(4, null, null),
  entry(3, 300, 1),
  entry(2, 100, 3),
];
const ids = (order: Order, limit: number): string[] =>
  topEntries(entries, order, limit).map(({ attributeId, value }) => `${attributeId} ${value}`);

describe('topEntries', () => {
  it('sorts by devices, index, or lowest index, then by attribute and value, with hidden entries last', () => {
    expect(ids('devices', 9)).toEqual(['3 DE', '1 DE', '2 DE', '4 DE', '4 FR']);
    expect(ids('index', 9)).toEqual(['2 DE', '1 DE', '3 DE', '4 DE', '4 FR']);
    expect(ids('lowest_index', 9)).toEqual(['3 DE', '1 DE', '2 DE', '4 DE', '4 FR']);
  });

  it('returns at most `limit` entries', () => {
    expect(ids('devices', 2)).toEqual(['3 DE', '1 DE']);
  });
});
