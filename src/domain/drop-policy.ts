import { dropStatus } from './drop.ts';

/** How a cycle answers its items. An operator can change it with a policy file. */
export type DropPolicy = {
  /**
   * Devices whose data is exempt from deletion: advertising IDs, or hashes as in the list. They are neither erased nor
   * suppressed.
   */
  readonly exempt: readonly string[];
  /** The answer to items of several consumers with the same device, if it was found. The device is erased in any case. */
  readonly shared: 'opted_out' | 'deleted';
  /** Lists other than MAID, for example of e-mail addresses: answered by another system, or answered as not found. */
  readonly other_lists: 'leave' | 'not_found';
};

/** What a cycle keeps of the policy with which it started. The engine has the exempt hashes. */
export type CyclePolicy = Pick<DropPolicy, 'shared' | 'other_lists'>;

/** The most entries of `exempt`. */
export const maxExempt = 100_000;

/** The facts about an item on which its status depends. */
type ItemFacts = {
  /** A stored device had the hash. */
  readonly isFound: boolean;
  readonly isExempt: boolean;
  /** Another item of the list has the same hash. */
  readonly isShared: boolean;
};

/** The status of an item. The engine evaluates the same rule. */
export function statusOf({ isFound, isExempt, isShared }: ItemFacts, { shared }: Pick<DropPolicy, 'shared'>): number {
  if (!isFound) return dropStatus.notFound;
  if (isExempt) return dropStatus.exempt;
  return isShared && shared === 'opted_out' ? dropStatus.optedOut : dropStatus.deleted;
}
