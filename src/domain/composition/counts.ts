/** Dimensions by which a report can be split. */
export const splits = ['id_type', 'country', 'event'] as const;

export type Split = (typeof splits)[number];

/** How devices are grouped for counting. `first_event` counts each device only under its smallest event. */
export type Counting = 'none' | Split | 'first_event';

/**
 * A protected report counts a device in only one cell per attribute. Otherwise, an attacker could upload a device with
 * a hundred events and observe it a hundred times in one report.
 */
export function countingOf(split: Split | null, isProtected: boolean): Counting {
  if (split === 'event' && isProtected) return 'first_event';
  return split ?? 'none';
}

/** Returns the split of a report that uses this counting. */
export function splitOf(counting: Counting): Split | null {
  if (counting === 'first_event') return 'event';
  return counting === 'none' ? null : counting;
}

/** Exact counts for one attribute, or for one value of the split dimension within it. */
export type CellCount = {
  readonly attributeId: number;
  /** Null without a split. */
  readonly value: string | null;
  readonly devices: number;
  readonly warehouseDevices: number;
  /** Identifies the cell's devices in the warehouse. It changes whenever the count can change. */
  readonly warehouseState: string;
};

export type CompositionCounts = {
  /** Identifies all members, including unmatched ones, and all known devices. It covers events if events are counted. */
  readonly members: string;
  readonly matchedDevices: number;
  readonly knownDevices: number;
  /** The number of devices in each country. Empty unless the report is split by country. */
  readonly countries: Readonly<Record<string, number>>;
  /**
   * Every cell in the warehouse. Cells without members are included, so that the presence of a cell reveals nothing.
   */
  readonly cells: readonly CellCount[];
};

export function compareValues(a: string | null, b: string | null): number {
  const [one, other] = [a ?? '', b ?? ''];
  return one < other ? -1 : Number(one > other);
}
