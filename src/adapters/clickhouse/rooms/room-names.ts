/** The tables of a load's own room. No name is ever used again: a load id belongs to one attempt. */
export function roomNames(loadId: number) {
  if (!Number.isSafeInteger(loadId)) throw new TypeError(`${loadId} is no load`);
  const name = (part: string): string => `room_${loadId}_${part}`;
  return {
    /** Where the judged lines arrive; keeps nothing. */
    lines: name('lines'),
    /** The good rows of one shard, with the order and the partitions of the table they will be published in. */
    rows: name('rows'),
    /** The same on all shards. */
    allRows: name('all_rows'),
    views: {
      rows: name('to_rows'),
      counts: name('to_counts'),
      rejects: name('to_rejects'),
      devices: name('to_devices'),
    },
  };
}

/** From the entrance to the rows: without the entrance nothing new comes in. */
export function everyTableOf(loadId: number): string[] {
  const { lines, views, allRows, rows } = roomNames(loadId);
  return [lines, ...Object.values(views), allRows, rows];
}

export function loadOfTable(name: string): number | null {
  const [, id] = /^room_([0-9]+)_/.exec(name) ?? [];
  return id === undefined ? null : Number(id);
}
