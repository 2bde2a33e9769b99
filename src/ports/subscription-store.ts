import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { JobId, PartnerId } from '../domain/ids.ts';
import type {
  ObjectState,
  Subscription,
  SubscriptionObject,
  SubscriptionSettings,
  WaitReason,
} from '../domain/subscription.ts';
import type { StoredObject } from './object-store.ts';

export type NewSubscription = SubscriptionSettings & { readonly prefix: string; readonly skipsExisting: boolean };

export type SubscriptionChanges = {
  readonly [Name in keyof SubscriptionSettings]?: SubscriptionSettings[Name] | undefined;
} & { readonly isPaused?: boolean | undefined };

export type ObjectPage = {
  readonly beforeId: number;
  readonly limit: number;
  readonly state: ObjectState | undefined;
};

/** Partners' subscriptions. Every method throws `not_found` for a subscription that the partner does not have. */
export interface SubscriptionStore {
  create(partnerId: PartnerId, request: NewSubscription, idempotency: IdempotentRequest | null): Promise<number>;
  /** Newest first. */
  list(
    partnerId: PartnerId,
    page: { readonly beforeId: number; readonly limit: number },
  ): Promise<readonly Subscription[]>;
  get(partnerId: PartnerId, id: number): Promise<Subscription>;
  update(
    partnerId: PartnerId,
    id: number,
    changes: SubscriptionChanges,
    idempotency: IdempotentRequest | null,
  ): Promise<void>;
  remove(partnerId: PartnerId, id: number, idempotency: IdempotentRequest | null): Promise<void>;
  /** Newest first. */
  listObjects(partnerId: PartnerId, id: number, page: ObjectPage): Promise<readonly SubscriptionObject[]>;
}

export type ListedObject = StoredObject & { readonly lastModified: Date };

/** A part of a listing in key order. `next` is the last listed key, or null at the end of the listing. */
type ListingPage = { readonly objects: readonly ListedObject[]; readonly next: string | null };

/** Lists the shared bucket. */
export interface ObjectListing {
  listPage(prefix: string, after: string | null): Promise<ListingPage>;
}

/** The right to list the prefix of a subscription and to create its imports. A later claim ends it. */
export type SubscriptionClaim = {
  readonly subscriptionId: number;
  readonly claim: number;
  readonly partnerId: PartnerId;
  /** The partner's prefix in the shared bucket. */
  readonly partnerPrefix: string;
  readonly prefix: string;
  readonly settings: SubscriptionSettings;
};

/** The keys after `after` up to `until`, or up to the end if it is null. */
export type KeyRange = { readonly after: string | null; readonly until: string | null };

export type ListingResult = {
  readonly importLogId: JobId | null;
  readonly objects: number;
  readonly waitsFor: WaitReason | null;
  /** Seconds from the creation of each imported object to the creation of the import. */
  readonly lagSeconds: readonly number[];
};

/** The subscriptions whose prefixes workers list. */
export interface SubscriptionQueue {
  /** Claims subscriptions that are due, at most one per partner. A claim expires after the lease. */
  claim(limit: number, leaseSeconds: number): Promise<readonly SubscriptionClaim[]>;
  /**
   * Compares the listed objects with the known versions in the range, and extends the claim. Returns false, and records
   * nothing, if the claim was lost.
   */
  recordPage(
    claim: SubscriptionClaim,
    range: KeyRange,
    objects: readonly ListedObject[],
    leaseSeconds: number,
  ): Promise<boolean>;
  /**
   * Ends the claim after a listing. If the condition of the trigger is met, creates an import of the waiting objects in
   * the same transaction. Returns null if the claim was lost.
   */
  finish(
    claim: SubscriptionClaim,
    limits: {
      readonly maxFiles: number;
      readonly maxOpenJobs: number;
      readonly listSeconds: number;
      readonly hasTooManyObjects: boolean;
    },
  ): Promise<ListingResult | null>;
  /** Releases the claim after a failure. */
  postpone(claim: SubscriptionClaim, seconds: number): Promise<void>;
  /**
   * Makes active subscriptions due if one of these keys in the shared bucket begins with their prefix. Does not wait
   * for locked subscriptions, and returns their keys.
   */
  wake(keys: readonly string[]): Promise<readonly string[]>;
  /** Removes versions that have been gone for a long time, and deleted subscriptions without open imports. */
  removeExpired(days: number, limit: number): Promise<number>;
}

/**
 * Tells which objects may have been created. Notifications can be lost, late, repeated, or untrue, so they only cause a
 * listing to start earlier.
 */
export interface ObjectNotifications {
  readonly port: number;
  close(): Promise<void>;
}
