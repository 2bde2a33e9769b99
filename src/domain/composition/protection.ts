import { compareValues, type CellCount, type CompositionCounts, type Split } from './counts.ts';
import type { Noise } from './noise.ts';

/** How small groups are protected; 0 turns each off. See docs/composition.md. */
export type Protection = {
  readonly hideUnder: number;
  readonly flagUnder: number;
  readonly noise: number;
  readonly roundTo: number;
};

export const defaultProtection: Protection = { hideUnder: 50, flagUnder: 100, noise: 15, roundTo: 25 };

export type ReportEntry = {
  readonly attributeId: number;
  readonly value: string | null;
  /** Null: hidden. */
  readonly devices: number | null;
  readonly share: number | null;
  readonly warehouseDevices: number;
  readonly warehouseShare: number | null;
  readonly index: number | null;
  readonly small: boolean;
};

export type Report = {
  readonly isProtected: boolean;
  readonly matchedDevices: number;
  readonly warehouseDevices: number;
  readonly entries: readonly ReportEntry[];
};

/** A flag changes no number, so it does not count. */
export function isProtecting({ hideUnder, noise, roundTo }: Protection): boolean {
  return hideUnder > 0 || noise > 0 || roundTo > 0;
}

/**
 * What may be shown of exact counts. The noise of a number follows from everything that the number follows from (the
 * members and the warehouse's side of the cell), so the same question has the same answer, and whatever changes the
 * number changes its noise too: no two different states can be compared through the same noise. All else, hiding and
 * ordering included, is done to the number with noise; a threshold on the exact one would tell it.
 */
export function protectReport(
  counts: CompositionCounts,
  split: Split | null,
  protection: Protection,
  noise: Noise,
): Report {
  const publish = (count: number, about: readonly (string | number | null)[]): number =>
    roundDown(count + noise(about), protection.roundTo);
  const { members, matchedDevices, knownDevices } = counts;
  const matched = publish(matchedDevices, ['matched', members, knownDevices]);
  const warehouse = publish(knownDevices, ['known', knownDevices]);
  const cells = counts.cells.map((cell) => {
    const place = [split, cell.attributeId, cell.value];
    return {
      cell,
      devices: publish(cell.devices, ['cell', members, ...place, cell.warehouseState]),
      warehouseDevices: publish(cell.warehouseDevices, ['warehouse', ...place, cell.warehouseDevices]),
    };
  });
  const hidden = hiddenCells(cells, split !== null, protection.hideUnder);
  return {
    isProtected: isProtecting(protection),
    matchedDevices: matched,
    warehouseDevices: warehouse,
    entries: cells.map((published) => {
      const isHidden = hidden.has(published.cell);
      const devices = isHidden ? null : published.devices;
      const share = devices === null ? null : shareOf(devices, matched);
      const warehouseShare = shareOf(published.warehouseDevices, warehouse);
      return {
        attributeId: published.cell.attributeId,
        value: published.cell.value,
        devices,
        share,
        warehouseDevices: published.warehouseDevices,
        warehouseShare,
        index: share === null || !warehouseShare ? null : share / warehouseShare,
        // Also of a cell that is hidden for another's sake: it must look like the other.
        small: isHidden || published.devices < protection.flagUnder,
      };
    }),
  };
}

type PublishedCell = { readonly cell: CellCount; readonly devices: number };

/** Down, so that what is shown as 50 is at least 50 with its noise, and a threshold of 50 is one of the steps. */
function roundDown(count: number, step: number): number {
  const whole = Math.max(0, count);
  return step === 0 ? whole : Math.floor(whole / step) * step;
}

/** Noise can make a part larger than the whole. */
function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.min(1, part / whole);
}

/** Where one cell of an attribute is hidden alone, the total without it would give it away: the next smallest goes too. */
function hiddenCells(cells: readonly PublishedCell[], isSplit: boolean, hideUnder: number): ReadonlySet<CellCount> {
  const hidden = new Set(cells.filter(({ devices }) => devices < hideUnder).map(({ cell }) => cell));
  if (!isSplit) return hidden;
  const byAttribute = Map.groupBy(cells, ({ cell }) => cell.attributeId);
  for (const ofAttribute of byAttribute.values()) {
    const shown = ofAttribute.filter(({ cell }) => !hidden.has(cell));
    if (ofAttribute.length - shown.length !== 1) continue;
    const [smallest] = shown.toSorted((a, b) => a.devices - b.devices || compareValues(a.cell.value, b.cell.value));
    if (smallest) hidden.add(smallest.cell);
  }
  return hidden;
}
