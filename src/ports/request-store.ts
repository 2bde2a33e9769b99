import type { AudienceScope } from '../domain/audience.ts';
import type { PartnerId } from '../domain/ids.ts';

/** Requests with an idempotency key that have run. The stores write them together with their effects. */
export interface AcceptedRequests {
  /** Deletes at most `limit` expired requests and returns how many. */
  deleteExpired(limit: number): Promise<number>;
}

/** Of one key; or of all keys of a partner together, with `keyId` null. */
export type RequestPortion = {
  readonly partnerId: PartnerId;
  readonly keyId: number | null;
  readonly requests: number;
};

export type TakenRequests = {
  /** What all processes together took in the window by now, this portion included. */
  readonly taken: number;
  /** Until the window ends, and another begins with nothing taken. */
  readonly secondsLeft: number;
};

/** How many requests were made in the current window: one count for all processes. */
export interface RequestWindows {
  /** Adds portions to what was taken; the answers are in their order. */
  take(portions: readonly RequestPortion[]): Promise<readonly TakenRequests[]>;
  /** Forgets windows that have ended. */
  sweep(): Promise<void>;
}

/** For whom statements are run; without a customer, for the partner itself. */
export type CallerScope = AudienceScope;

/** Everything that is begun in `run`, however long it goes on, sees and writes what is the caller's and nothing else. */
export type AsCaller = <T>(scope: CallerScope, run: () => T) => T;
