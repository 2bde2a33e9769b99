/** By what a report can be broken down. */
export type Split = 'id_type' | 'country' | 'event';

/** What is counted: `first_event` counts a device in the smallest of its events only. */
export type Counting = 'none' | Split | 'first_event';

/**
 * In a protected report a device stands in one cell of an attribute and no more: otherwise one could give it a hundred
 * events and have it observed a hundred times in one report.
 */
export function countingOf(split: Split | null, isProtected: boolean): Counting {
  if (split === 'event' && isProtected) return 'first_event';
  return split ?? 'none';
}

/** The exact numbers of one attribute, or of one value of the split within it. */
export type CellCount = {
  readonly attributeId: number;
  /** Null without a split. */
  readonly value: string | null;
  readonly devices: number;
  readonly warehouseDevices: number;
  /** A keyed fingerprint of the warehouse's devices of this cell. */
  readonly warehouseState: string;
};

export type CompositionCounts = {
  /** A keyed fingerprint of all members, matched or not; with their events where events are counted. */
  readonly members: string;
  readonly matchedDevices: number;
  readonly knownDevices: number;
  /** Every cell that the warehouse has, also where no member is in it: whether a cell is listed must tell nothing. */
  readonly cells: readonly CellCount[];
};

export function compareValues(a: string | null, b: string | null): number {
  const [one, other] = [a ?? '', b ?? ''];
  return one < other ? -1 : Number(one > other);
}
