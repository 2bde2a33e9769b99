import { device } from '../support/device-id.ts';
import { makeKnown } from '../support/shard-tables.ts';
import type { TestStores } from '../support/stores.ts';

/** The first device used in audiences. Imports use smaller numbers, so the set of known devices stays constant. */
export const firstMember = 1_000_000;

/** Every third member of the first 3,000 is known. */
export const knownMembers: ReadonlySet<string> = new Set(
  Array.from({ length: 1_000 }, (_, n) => device(firstMember + 3 * n)),
);

export async function insertKnownMembers(stores: TestStores): Promise<void> {
  await makeKnown(stores, knownMembers);
}
