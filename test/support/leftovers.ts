import { sweepStages } from '../../src/usecases/admin/maintenance.ts';
import { audit } from '../fault/auditor.ts';
import { silentLog } from './silent-log.ts';
import { type TestStores, withDatabase } from './stores.ts';
import { waitUntil } from './wait-until.ts';
import type { Wired } from './wired.ts';

/**
 * Makes the sweeper run now and returns everything that idle services should have removed: tokens, open files,
 * credentials, and staged rows.
 */
export async function leftovers(deps: Wired, stores: TestStores): Promise<string[]> {
  let found: string[] = [];
  const isNothingLeft = async (): Promise<boolean> => {
    await withDatabase(stores, (client) =>
      client.query(`UPDATE sweep SET ran_at = now() - interval '1 hour' WHERE name = 'drop orphaned stages'`),
    );
    await sweepStages({ ...deps, log: silentLog });
    found = await audit(stores, []);
    return found.length === 0;
  };
  await waitUntil('nothing is left', isNothingLeft, 60, 250).catch(() => undefined);
  return found;
}
