import type { Shard } from '../connect.ts';

/** From a device on, up to another; without one of them, from the first or up to the last. */
export type DeviceRange = { readonly from?: string; readonly to?: string };

/** Every range holds the streams of all parts in memory. */
const mostRanges = 8;

/**
 * Ranges of about the same number of devices, as many as the shard has processors. The known devices tell where to cut:
 * of those the engine has every 8,192th in memory. The ranges need not be equal, only together be all.
 */
export async function rangesOfDevices(shard: Shard): Promise<DeviceRange[]> {
  const result = await shard.query({
    query: `
      SELECT arrayMap(n -> toString(devices[intDiv(n * length(devices), ways)]), range(1, ways)) AS cuts
      FROM (
        SELECT arraySort(groupArray(device)) AS devices, least(getSetting('max_threads'), ${mostRanges}) AS ways
        FROM mergeTreeIndex(currentDatabase(), 'known_devices_local')
      )
      WHERE length(devices) > 10 * ways`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ cuts: string[] }>();
  const cuts = [...new Set(row?.cuts)];
  return [...cuts, undefined].map((to, index) => {
    const from = cuts[index - 1];
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  });
}

export function isInRange({ from, to }: DeviceRange): string {
  const tests = [
    ...(from === undefined ? [] : ['device >= {from: UUID}']),
    ...(to === undefined ? [] : ['device < {to: UUID}']),
  ];
  return tests.length === 0 ? 'true' : tests.join(' AND ');
}
