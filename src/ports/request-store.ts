import type { AudienceScope } from '../domain/audience.ts';
import type { PartnerId } from '../domain/ids.ts';

/** Requests with an idempotency key that have run. The stores write them together with their effects. */
export interface AcceptedRequests {
  /** Deletes at most `limit` expired requests and returns how many. */
  deleteExpired(limit: number): Promise<number>;
}

/** For one key, or for all of a partner's keys together if `keyId` is null. */
export type RequestPortion = {
  readonly partnerId: PartnerId;
  readonly keyId: number | null;
  readonly requests: number;
};

export type TakenRequests = {
  /** Requests that all processes have taken in the window, including this portion. */
  readonly taken: number;
  /** The time until the window ends and a new window starts at zero. */
  readonly secondsLeft: number;
};

/** Counts requests in the current window, across all processes. */
export interface RequestWindows {
  /** Adds portions to the windows. Results are in the order of the portions. */
  take(portions: readonly RequestPortion[]): Promise<readonly TakenRequests[]>;
  /** Deletes windows that have ended. */
  sweep(): Promise<void>;
}

/** The caller for whom statements run. If there is no customer, the caller is the partner itself. */
export type CallerScope = AudienceScope;

/** Everything started in `run`, including work that outlives it, can read and write only the caller's data. */
export type AsCaller = <T>(scope: CallerScope, run: () => T) => T;
