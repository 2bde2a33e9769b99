import type { ModelFile } from '../support/audience-model.ts';
import { device } from '../support/device-id.ts';
import type { ModelRow } from '../support/warehouse-model.ts';
import type { FaultPartner } from './fault-partner.ts';
import { firstMember } from './known-devices.ts';

/**
 * Loads of at least this size get their own staging tables. Some of the files below are larger, and some are smaller.
 */
export const stagingTableBytes = 600;

/** Returns rows of consecutive devices. */
export const rows = (from: number, to: number, attributes: readonly number[], isDelete = false): ModelRow[] =>
  Array.from({ length: to - from }, (_, n) => ({ device: device(from + n), isDelete, attributes }));
export const members = (from: number, to: number, event = ''): ModelFile => ({
  rows: Array.from({ length: to - from }, (_, n) => [device(firstMember + from + n), event] as const),
  flaw: null,
});

/** Submits one request of each kind, so that a worker passes every failpoint. */
export async function submitOneOfEach(partner: FaultPartner): Promise<void> {
  const [a, b, c] = partner.attributes;
  const cleared = await partner.createAudience([members(0, 3), members(2, 5, 'click')]);
  await partner.importFiles('merge', [rows(0, 3, [a, b]), rows(2, 5, [b])]);
  await partner.importFiles('merge', [rows(0, 30, [a, c])]);
  await partner.importFiles('replace', [rows(3, 8, [b]), rows(5, 9, [b])]);
  await partner.importInvalidFile();
  await partner.importFromOwnBucket([rows(20, 24, [c]), rows(22, 30, [c])]);
  // These requests need more steps than a lane takes in one turn.
  for (let n = 0; n < 11; n++) await partner.importNothing();
  await partner.deleteAttributes([a]);
  await partner.importFiles('merge', [[...rows(0, 4, [a]), ...rows(10, 20, [c], true)], rows(7, 9, [a])]);
  const audience = await partner.createAudience([members(0, 4), members(0, 4, 'view')]);
  await partner.append(audience, [members(2, 40)]);
  await partner.waitForAudience(cleared);
  await partner.clear(cleared);
  await partner.append(cleared, [members(3, 6)]);
  await partner.waitForAudience(cleared);
  await partner.waitForAudience(audience);
}

/** Submits two small jobs. */
export async function submitAFew(partner: FaultPartner, round: number): Promise<void> {
  const [a] = partner.attributes;
  await partner.importFiles('merge', [rows(round, round + 3, [a]), rows(round + 1, round + 5, [a])]);
  await partner.createAudience([members(round, round + 3)]);
}
