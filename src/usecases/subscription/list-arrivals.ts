import { isSkippedRejects } from '../../domain/reject-export.ts';
import { goneObjectDays } from '../../domain/subscription.ts';
import type { Limits } from '../../domain/limits.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { Log } from '../../ports/observability.ts';
import type {
  ListedObject,
  ObjectListing,
  SubscriptionClaim,
  SubscriptionQueue,
} from '../../ports/subscription-store.ts';

/** Notifications start a listing within this time. */
export const listArrivalsEveryMs = 500;

/** Each page extends the lease. A page takes well under a second. If the process is killed, the next listing waits until the lease expires. */
const leaseSeconds = 10;

/** Number of prefixes that one worker lists concurrently. */
const listingsAtATime = 4;

/** Pause after a failed listing, for example while the storage is unavailable. */
const failurePauseSeconds = 10;

export const listingOutcomes = ['imported', 'unchanged', 'lost', 'failed'] as const;
export type ListingOutcome = (typeof listingOutcomes)[number];

export type SubscriptionSettings = {
  /** Longest time between two listings of an active subscription. */
  readonly listSeconds: number;
  /** Number of objects that one listing reads. */
  readonly maxObjects: number;
};

type Deps = {
  readonly subscriptionQueue: SubscriptionQueue;
  readonly objectListing: ObjectListing;
  readonly subscribing: SubscriptionSettings;
  readonly limits: Limits;
  readonly log: Log;
  readonly recordListing: (outcome: ListingOutcome, lagSeconds: readonly number[]) => void;
};

export type ArrivalLister = {
  /**
   * Starts to list the prefixes that are due, as many as there are free places. Does not wait until they are listed.
   */
  readonly list: () => Promise<void>;
  /** Waits until the listings in progress are recorded. */
  readonly stop: () => Promise<void>;
};

/** Lists the prefixes of subscriptions and imports what has arrived. Uses no lane slot. */
export function arrivalLister(deps: Deps): ArrivalLister {
  const turns = new Set<Promise<void>>();
  const stopped = new AbortController();

  const takeTurn = async (claim: SubscriptionClaim): Promise<void> => {
    try {
      await listArrivals(deps, claim, stopped.signal);
    } catch (error) {
      deps.recordListing('failed', []);
      deps.log.warn({ err: error, subscriptionId: claim.subscriptionId }, 'cannot list the prefix of a subscription');
      // If this also fails, the claim expires.
      await deps.subscriptionQueue.postpone(claim, failurePauseSeconds).catch(() => undefined);
    }
  };
  return {
    list: async () => {
      const free = listingsAtATime - turns.size;
      if (free <= 0 || stopped.signal.aborted) return;
      for (const claim of await deps.subscriptionQueue.claim(free, leaseSeconds)) {
        const turn: Promise<void> = takeTurn(claim).finally(() => turns.delete(turn));
        turns.add(turn);
      }
    },
    stop: async () => {
      stopped.abort();
      await Promise.all(turns);
    },
  };
}

/** Lists the whole prefix, one page at a time, and then decides whether to create an import. */
async function listArrivals(deps: Deps, claim: SubscriptionClaim, signal: AbortSignal): Promise<void> {
  const { subscriptionQueue, objectListing, subscribing, limits, log } = deps;
  const prefix = claim.partnerPrefix + claim.prefix;
  let after: string | null = null;
  let listed = 0;
  do {
    if (signal.aborted) return subscriptionQueue.postpone(claim, 0);
    const page = await objectListing.listPage(prefix, after);
    const objects = page.objects.filter((object) => isImported(claim, object));
    const range = { after, until: page.next };
    if (!(await subscriptionQueue.recordPage(claim, range, objects, leaseSeconds))) {
      deps.recordListing('lost', []);
      return;
    }
    listed += page.objects.length;
    after = page.next;
  } while (after !== null && listed < subscribing.maxObjects);
  const result = await subscriptionQueue.finish(claim, {
    maxFiles: limits.maxFilesPerPrefix,
    maxOpenJobs: limits.maxOpenJobs,
    listSeconds: subscribing.listSeconds,
    hasTooManyObjects: after !== null,
  });
  if (result && result.importLogId !== null) {
    const { importLogId: jobId, objects } = result;
    log.info({ jobId, subscriptionId: claim.subscriptionId, partnerId: claim.partnerId, objects }, 'arrivals queued');
  }
  deps.recordListing(outcomeOf(result), result?.lagSeconds ?? []);
}

function outcomeOf(result: Awaited<ReturnType<SubscriptionQueue['finish']>>): ListingOutcome {
  if (!result) return 'lost';
  return result.importLogId === null ? 'unchanged' : 'imported';
}

/** Leaves out "folder" objects and exported rejects, as an import of the prefix does. */
function isImported({ partnerPrefix, prefix }: SubscriptionClaim, { key, size }: ListedObject): boolean {
  return !(key.endsWith('/') && size === 0) && !isSkippedRejects(partnerPrefix, partnerPrefix + prefix, key);
}

/** Number of rows per statement, so that a statement takes well under a second. */
const removedAtATime = 5_000;
export const removeExpiredObjectsEverySeconds = 60;

/** Only one worker removes a batch per interval. Later calls remove the rest. */
export async function removeExpiredObjects(deps: {
  readonly lanes: LaneStore;
  readonly subscriptionQueue: SubscriptionQueue;
}): Promise<void> {
  if (!(await deps.lanes.claimTurn('remove objects of subscriptions', removeExpiredObjectsEverySeconds))) return;
  await deps.subscriptionQueue.removeExpired(goneObjectDays, removedAtATime);
}
