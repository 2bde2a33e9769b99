import { dropOrphanedStages } from '../../src/usecases/admin/maintenance.ts';
import { audit } from '../fault/auditor.ts';
import { silentLog } from './silent-log.ts';
import { type TestStores, withDatabase } from './stores.ts';
import { waitUntil } from './wait-until.ts';
import type { Wired } from './wired.ts';

/**
 * Everything that idle services should have cleaned up: tokens, open files, credentials, staged rows. Runs the sweeper
 * now.
 */
export async function leftovers(deps: Wired, stores: TestStores): Promise<string[]> {
  let found: string[] = [];
  const isNothingLeft = async (): Promise<boolean> => {
    await withDatabase(stores, (client) =>
      client.query(`UPDATE sweep SET ran_at = now() - interval '1 hour' WHERE name = 'drop orphaned stages'`),
    );
    await dropOrphanedStages({ ...deps, log: silentLog });
    found = await audit(stores, []);
    return found.length === 0;
  };
  await waitUntil('nothing is left', isNothingLeft, 60, 250).catch(() => undefined);
  return found;
}
