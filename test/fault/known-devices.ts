import { makeKnown } from '../support/below-the-api.ts';
import { device } from '../support/device-id.ts';
import type { TestStores } from '../support/stores.ts';

/** Devices of audiences begin here: no import brings them, so that which of them are known does not change. */
export const firstMember = 1_000_000;

/** Every third of the first members. */
export const knownMembers: ReadonlySet<string> = new Set(
  Array.from({ length: 1_000 }, (_, n) => device(firstMember + 3 * n)),
);

export async function insertKnownMembers(stores: TestStores): Promise<void> {
  await makeKnown(stores, knownMembers);
}
