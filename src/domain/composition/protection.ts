import { type CellCount, type CompositionCounts, type Split, compareValues } from './counts.ts';
import type { Noise } from './noise.ts';

/** Protection of small groups. 0 disables a measure. See docs/composition.md. */
export type Protection = {
  readonly hideUnder: number;
  readonly flagUnder: number;
  readonly noise: number;
  readonly roundTo: number;
};

export const defaultProtection: Protection = { hideUnder: 50, flagUnder: 100, noise: 15, roundTo: 25 };

/** The protected counts of one cell. Everything else that a report shows about the cell follows from them. */
export type PublishedCounts = {
  readonly attributeId: number;
  readonly value: string | null;
  /** Null if hidden. */
  readonly devices: number | null;
  readonly warehouseDevices: number;
  readonly small: boolean;
};

export type ReportEntry = PublishedCounts & {
  readonly share: number | null;
  readonly warehouseShare: number | null;
  readonly index: number | null;
};

export type ReportTotals = { readonly matchedDevices: number; readonly warehouseDevices: number };

export type Report = ReportTotals & {
  readonly isProtected: boolean;
  /** The number of devices in each country, if the report is split by country. */
  readonly countries: Readonly<Record<string, number>>;
  readonly entries: readonly ReportEntry[];
};

/**
 * Whether any measure changes published numbers. `flagUnder` only flags entries, so it does not count as protection.
 */
export function isProtecting({ hideUnder, noise, roundTo }: Protection): boolean {
  return hideUnder > 0 || noise > 0 || roundTo > 0;
}

/**
 * Converts exact counts to publishable ones. The noise of a count is derived from everything that determines the count:
 * the members and the cell's devices in the warehouse. Repeating a query therefore returns the same result. Any change
 * to the count also changes its noise, so subtracting one report from another does not cancel the noise. Hiding and
 * ordering use the noisy count, because a threshold on the exact count would reveal it.
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
    countries: Object.fromEntries(
      Object.entries(counts.countries).map(([country, devices]) => [
        country,
        publish(devices, ['country', country, devices]),
      ]),
    ),
    entries: cells.map((published) => {
      const isHidden = hidden.has(published.cell);
      return addShares(
        {
          attributeId: published.cell.attributeId,
          value: published.cell.value,
          devices: isHidden ? null : published.devices,
          warehouseDevices: published.warehouseDevices,
          // Also set for a cell that is hidden only to protect another cell, because the two must be indistinguishable.
          small: isHidden || published.devices < protection.flagUnder,
        },
        { matchedDevices: matched, warehouseDevices: warehouse },
      );
    }),
  };
}

export function addShares(counts: PublishedCounts, totals: ReportTotals): ReportEntry {
  const share = shareOf(counts.devices, totals.matchedDevices);
  const warehouseShare = shareOf(counts.warehouseDevices, totals.warehouseDevices);
  return { ...counts, share, warehouseShare, index: indexOf(share, warehouseShare) };
}

type PublishedCell = { readonly cell: CellCount; readonly devices: number };

/**
 * Rounds down, so that a published count of 50 means a noisy count of at least 50. The default hiding threshold is a
 * multiple of the default rounding step.
 */
export function roundDown(count: number, step: number): number {
  const whole = Math.max(0, count);
  return step === 0 ? whole : Math.floor(whole / step) * step;
}

/** Capped at 1, because noise can make a part larger than the whole. Null if the part is hidden. */
export function shareOf(part: number | null, whole: number): number | null {
  return part === null || whole === 0 ? null : Math.min(1, part / whole);
}

export function indexOf(share: number | null, ofBaseline: number | null): number | null {
  return share === null || !ofBaseline ? null : share / ofBaseline;
}

/**
 * If only one cell of an attribute were hidden, the total would reveal its count, so the next smallest cell is hidden
 * too.
 */
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

export const orders = ['devices', 'index', 'lowest_index'] as const;
export type Order = (typeof orders)[number];

/** Sorts by published numbers, so the order reveals nothing beyond them. Hidden entries come last. */
export function topEntries(entries: readonly ReportEntry[], order: Order, limit: number): readonly ReportEntry[] {
  const rank = ({ devices, index }: ReportEntry): number => {
    if (order === 'devices') return devices ?? -1;
    if (index === null) return Number.NEGATIVE_INFINITY;
    return order === 'index' ? index : -index;
  };
  return entries
    .toSorted((a, b) => rank(b) - rank(a) || a.attributeId - b.attributeId || compareValues(a.value, b.value))
    .slice(0, limit);
}

/** Maximum number of entries in a response. */
export const maxReportEntries = 100;

/** Numbers of entries. Hidden entries are also small. */
type EntryTotals = { readonly entries: number; readonly small: number; readonly hidden: number };

/** A report as callers see it. For each order, `top` has as many entries as a response can have. */
export type PublishedReport = Omit<Report, 'entries'> & {
  readonly totals: EntryTotals;
  readonly top: Readonly<Record<Order, readonly ReportEntry[]>>;
  readonly cells: readonly PublishedCounts[];
};

/**
 * Protects a report and selects its top entries. Yields after each portion of the cells, so that the caller can do
 * other work in between, because two HMACs per cell take a second for 50,000 cells.
 */
export function* publishInPortions(
  counts: CompositionCounts,
  split: Split | null,
  protection: Protection,
  noise: Noise,
): Generator<void, PublishedReport> {
  const { entries, ...totals } = protectReport({ ...counts, cells: [] }, split, protection, noise);
  const top: Record<Order, readonly ReportEntry[]> = { devices: entries, index: entries, lowest_index: entries };
  const published: PublishedCounts[] = [];
  for (const cells of wholeAttributes(counts.cells)) {
    const portion = protectReport({ ...counts, countries: {}, cells }, split, protection, noise).entries;
    published.push(...portion);
    for (const order of orders) top[order] = topEntries([...top[order], ...portion], order, maxReportEntries);
    yield;
  }
  return { ...totals, totals: totalsOf(published), top, cells: published };
}

function totalsOf(cells: readonly PublishedCounts[]): EntryTotals {
  const small = cells.filter((cell) => cell.small);
  return {
    entries: cells.length,
    small: small.length,
    hidden: small.filter(({ devices }) => devices === null).length,
  };
}

const cellsPerPortion = 500;

/**
 * Splits the cells into portions of whole attributes, because hiding a cell depends on the other cells of its
 * attribute.
 */
function* wholeAttributes(cells: readonly CellCount[]): Generator<readonly CellCount[]> {
  let portion: CellCount[] = [];
  for (const ofAttribute of Map.groupBy(cells, ({ attributeId }) => attributeId).values()) {
    portion.push(...ofAttribute);
    if (portion.length < cellsPerPortion) continue;
    yield portion;
    portion = [];
  }
  yield portion;
}
