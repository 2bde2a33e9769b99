import { putFile } from './files.ts';
import { scaled } from './scale.ts';
import type { Running } from './service.ts';
import { createKnownDevices } from './warehouse.ts';

const rows = scaled(10_000_000);
const firstKnown = Math.floor(rows / 2);

/** The load that most benchmarks use. Half of its devices are already known. */
export const tenMillion = { rows, unique: rows, matched: rows - firstKnown };

/** Creates twenty million known devices and the file. */
export async function prepareTenMillion(running: Running, path: string): Promise<void> {
  await createKnownDevices(running, { from: firstKnown, count: rows * 2 });
  await putFile(running, path, { from: 0, count: rows });
}
