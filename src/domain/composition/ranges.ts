import type { Protection, ReportEntry } from './protection.ts';

/** The exact numbers that could have led to a published number. Both ends are inclusive. */
export type Range = { readonly low: number; readonly high: number };

type Measures = Pick<Protection, 'noise' | 'roundTo'>;

/** Counts are rounded down after the noise is added. */
export function countRange(published: number, { noise, roundTo }: Measures): Range {
  return { low: Math.max(0, published - noise), high: published + Math.max(0, roundTo - 1) + noise };
}

/** The range of the index, computed from published numbers only. Null if the index is hidden or has no upper limit. */
export function indexRange(
  { devices, warehouseDevices }: Pick<ReportEntry, 'devices' | 'warehouseDevices'>,
  totals: { readonly matchedDevices: number; readonly warehouseDevices: number },
  protection: Measures,
): Range | null {
  if (devices === null) return null;
  const part = countRange(devices, protection);
  const matched = countRange(totals.matchedDevices, protection);
  const inWarehouse = countRange(warehouseDevices, protection);
  const warehouse = countRange(totals.warehouseDevices, protection);
  if (matched.low === 0 || inWarehouse.low === 0) return null;
  return {
    low: (part.low / matched.high) * (warehouse.low / inWarehouse.high),
    high: (Math.min(part.high, matched.high) / matched.low) * (warehouse.high / inWarehouse.low),
  };
}
