import { dropStatus } from './drop.ts';

/** How a cycle answers its items. An operator can change it with a policy file. */
export type DropPolicy = {
  /**
   * Devices whose data is exempt from deletion: advertising IDs, or hashes as in the list. They are neither erased nor
   * suppressed.
   */
  readonly exempt: readonly string[];
  /**
   * The answer to the items of several consumers with the same device, if the device was found. It is always erased.
   */
  readonly shared: 'opted_out' | 'deleted';
  /**
   * How lists other than MAID, for example lists of e-mail addresses, are answered: by another system, or as not found.
   */
  readonly other_lists: 'leave' | 'not_found';
};

/** The part of the policy that a cycle stores when it starts. The engine has the exempt hashes. */
export type CyclePolicy = Pick<DropPolicy, 'shared' | 'other_lists'>;

/** Maximum number of entries in `exempt`. */
export const maxExempt = 100_000;

/** The facts about an item on which its status depends. */
type ItemFacts = {
  /** A stored device has the hash. */
  readonly isFound: boolean;
  readonly isExempt: boolean;
  /** Another item in the list has the same hash. */
  readonly isShared: boolean;
};

/** The status of an item. The engine evaluates the same rule. */
export function statusOf({ isFound, isExempt, isShared }: ItemFacts, { shared }: Pick<DropPolicy, 'shared'>): number {
  if (!isFound) return dropStatus.notFound;
  if (isExempt) return dropStatus.exempt;
  return isShared && shared === 'opted_out' ? dropStatus.optedOut : dropStatus.deleted;
}
