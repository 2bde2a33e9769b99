import type { CellCount, Counting } from '../../../domain/composition/counts.ts';
import type { CellOfShard } from './attribute-cells.ts';
import type { MembersOfShard } from './members.ts';

// A device is on one shard: numbers are sums, and so are fingerprints.

const width = 64;

export function addMembers(shards: readonly MembersOfShard[]): { readonly members: string; readonly matched: number } {
  const sum = shards.reduce((total, shard) => BigInt.asUintN(width, total + shard.sum), 0n);
  const xor = shards.reduce((total, shard) => total ^ shard.xor, 0n);
  return { members: `${sum}.${xor}`, matched: shards.reduce((total, shard) => total + shard.matched, 0) };
}

export function addCells(cells: readonly CellOfShard[], counting: Counting, events: readonly string[]): CellCount[] {
  const byAttribute = Map.groupBy(cells, ({ attributeId }) => attributeId);
  return [...byAttribute].flatMap(([attributeId, ofAttribute]) =>
    counting === 'event' || counting === 'first_event'
      ? cellsOfEvents(attributeId, ofAttribute, events)
      : [...Map.groupBy(ofAttribute, ({ value }) => value)].map(([value, same]) => ({
          ...sumOf(attributeId, same),
          value: counting === 'none' ? null : value,
        })),
  );
}

/** The warehouse has no events: each event is held against the whole attribute, and has a cell even if it is empty. */
function cellsOfEvents(attributeId: number, cells: readonly CellOfShard[], events: readonly string[]): CellCount[] {
  const whole = sumOf(attributeId, cells);
  return events.map((event, index) => {
    const { devices } = sumOf(
      attributeId,
      cells.filter(({ value }) => value === String(index + 1)),
    );
    return { ...whole, value: event, devices };
  });
}

function sumOf(attributeId: number, cells: readonly CellOfShard[]): Omit<CellCount, 'value'> {
  const state = cells.reduce((total, cell) => BigInt.asUintN(width, total + cell.state), 0n);
  return {
    attributeId,
    devices: cells.reduce((total, { devices }) => total + devices, 0),
    warehouseDevices: cells.reduce((total, { warehouseDevices }) => total + warehouseDevices, 0),
    warehouseState: String(state),
  };
}
