/** Dimensions by which a report can be split. */
export type Split = 'id_type' | 'country' | 'event';

/** How devices are counted. `first_event` counts a device only in its smallest event. */
export type Counting = 'none' | Split | 'first_event';

/**
 * A protected report counts a device in one cell per attribute. Otherwise, an attacker could give a device a hundred
 * events and observe the device a hundred times in one report.
 */
export function countingOf(split: Split | null, isProtected: boolean): Counting {
  if (split === 'event' && isProtected) return 'first_event';
  return split ?? 'none';
}

/** Exact counts of one attribute, or of one split value within it. */
export type CellCount = {
  readonly attributeId: number;
  /** Null without a split. */
  readonly value: string | null;
  readonly devices: number;
  readonly warehouseDevices: number;
  /** Keyed fingerprint of the cell's devices in the warehouse. */
  readonly warehouseState: string;
};

export type CompositionCounts = {
  /** Keyed fingerprint of all members, matched or not, including their events if events are counted. */
  readonly members: string;
  readonly matchedDevices: number;
  readonly knownDevices: number;
  /** Every cell in the warehouse, including cells without members, because a cell's presence must reveal nothing. */
  readonly cells: readonly CellCount[];
};

export function compareValues(a: string | null, b: string | null): number {
  const [one, other] = [a ?? '', b ?? ''];
  return one < other ? -1 : Number(one > other);
}
