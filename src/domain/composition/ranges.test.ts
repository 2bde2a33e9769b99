import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultProtection, protectReport } from './protection.ts';
import { countRange, indexRange } from './ranges.ts';

describe('the range of a published number', () => {
  it('contains every count that can be published as this number', () => {
    expect(countRange(200, defaultProtection)).toEqual({ low: 185, high: 239 });
    expect(countRange(0, defaultProtection)).toEqual({ low: 0, high: 39 });
    expect(countRange(123, { noise: 0, roundTo: 0 })).toEqual({ low: 123, high: 123 });
  });

  it('contains the exact count and the exact index for any noise', () => {
    const { noise: bound } = defaultProtection;
    const exact = fc.record({
      devices: fc.integer({ min: 0, max: 2_000 }),
      matched: fc.integer({ min: 2_000, max: 9_000 }),
      inWarehouse: fc.integer({ min: 2_000, max: 50_000 }),
      known: fc.integer({ min: 50_000, max: 900_000 }),
      drawn: fc.array(fc.integer({ min: -bound, max: bound }), { minLength: 4, maxLength: 4 }),
    });
    fc.assert(
      fc.property(exact, ({ devices, matched, inWarehouse, known, drawn }) => {
        const cell = { attributeId: 1, value: null, devices, warehouseDevices: inWarehouse, warehouseState: '' };
        const counts = { members: '', matchedDevices: matched, knownDevices: known, countries: {}, cells: [cell] };
        let turn = 0;
        const noise = (): number => drawn[turn++ % 4] ?? 0;
        const report = protectReport(counts, null, defaultProtection, noise);
        const [entry] = report.entries;
        if (!entry || entry.devices === null) return;
        const ofCount = countRange(entry.devices, defaultProtection);
        expect(devices).toBeGreaterThanOrEqual(ofCount.low);
        expect(devices).toBeLessThanOrEqual(ofCount.high);
        const ofIndex = indexRange(entry, report, defaultProtection);
        const index = devices / matched / (inWarehouse / known);
        expect(index).toBeGreaterThanOrEqual((ofIndex?.low ?? Number.NaN) * (1 - 1e-9));
        expect(index).toBeLessThanOrEqual((ofIndex?.high ?? Number.NaN) * (1 + 1e-9));
      }),
    );
  });

  it('does not exist for the index of a hidden group', () => {
    const totals = { matchedDevices: 1_000, warehouseDevices: 10_000 };
    expect(indexRange({ devices: null, warehouseDevices: 500 }, totals, defaultProtection)).toBeNull();
  });
});
