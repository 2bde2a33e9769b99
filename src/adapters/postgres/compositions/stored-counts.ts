import { z } from 'zod';
import type { CompositionCounts } from '../../../domain/composition/counts.ts';

// A report may have thousands of cells: each is a short list without names.

const storedSchema = z.object({
  members: z.string(),
  matched: z.int(),
  known: z.int(),
  cells: z.array(z.tuple([z.int(), z.string().nullable(), z.int(), z.int(), z.string()])),
});

export function storeCounts({ members, matchedDevices, knownDevices, cells }: CompositionCounts): string {
  const stored: z.infer<typeof storedSchema> = {
    members,
    matched: matchedDevices,
    known: knownDevices,
    cells: cells.map((cell) => [
      cell.attributeId,
      // What an uploaded event may hold and jsonb may not.
      cell.value?.replaceAll('\0', '\u{fffd}') ?? null,
      cell.devices,
      cell.warehouseDevices,
      cell.warehouseState,
    ]),
  };
  return JSON.stringify(stored);
}

export function readCounts(report: unknown): CompositionCounts {
  const { members, matched, known, cells } = storedSchema.parse(report);
  return {
    members,
    matchedDevices: matched,
    knownDevices: known,
    cells: cells.map(([attributeId, value, devices, warehouseDevices, warehouseState]) => ({
      attributeId,
      value,
      devices,
      warehouseDevices,
      warehouseState,
    })),
  };
}
