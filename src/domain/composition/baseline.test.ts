import { describe, expect, it } from 'vitest';
import { type ComparedEntry, compareEntry } from './baseline.ts';
import { addShares } from './protection.ts';

const totals = { matchedDevices: 1000, warehouseDevices: 100_000 };
const entry = addShares({ attributeId: 1, value: null, devices: 500, warehouseDevices: 10_000, small: false }, totals);
const exact = { noise: 0, roundTo: 0 };

function compare(devices: number | null, total: number | null, protection = exact): ComparedEntry {
  return compareEntry({ ...entry, baselineDevices: devices }, { ...totals, baselineDevices: total }, protection);
}

describe('compareEntry', () => {
  it('compares with the warehouse if there is no baseline', () => {
    expect(compare(null, null)).toMatchObject({ index: 5, baselineShare: null, indexRange: { low: 5, high: 5 } });
  });

  it('divides the share by the baseline share', () => {
    expect(compare(50, 200)).toMatchObject({
      share: 0.5,
      baselineShare: 0.25,
      index: 2,
      indexRange: { low: 2, high: 2 },
    });
  });

  it('includes the noise of both reports in the range of the index', () => {
    const { indexRange } = compare(500, 1000, { noise: 15, roundTo: 25 });
    expect(indexRange?.low).toBeCloseTo((485 / 1039) * (985 / 539));
    expect(indexRange?.high).toBeCloseTo((539 / 985) * (1039 / 485));
  });

  it.each([
    ['is hidden', null, 200],
    ['has no device', 0, 200],
    ['is part of an empty baseline', 0, 0],
  ])('has no index if the group in the baseline %s', (_, devices, total) => {
    expect(compare(devices, total)).toMatchObject({ index: null, indexRange: null, share: 0.5 });
  });
});
