import type { AudienceReach } from '../domain/audience.ts';
import type { PartnerId } from '../domain/ids.ts';

/**
 * Completed requests that had an idempotency key. Each store records the request in the same transaction as its
 * effects.
 */
export interface AcceptedRequests {
  /** Deletes at most `limit` expired requests and returns the number deleted. */
  deleteExpired(limit: number): Promise<number>;
}

/** Requests to reserve in one of the windows of a partner. */
export type RequestPortion = {
  readonly partnerId: PartnerId;
  /** The ID of an API key, or another number for a window of several keys or of sessions. */
  readonly windowId: number;
  readonly requests: number;
};

export type TakenRequests = {
  /** Requests that all processes have taken in the window, including this portion. */
  readonly taken: number;
  /** Time until the window ends. The next window starts at zero. */
  readonly secondsLeft: number;
};

/** Counts requests in the current window, across all processes. */
export interface RequestWindows {
  /** Adds portions to the windows. Results are in the order of the portions. */
  take(portions: readonly RequestPortion[]): Promise<readonly TakenRequests[]>;
  /** Deletes windows that have ended. */
  sweep(): Promise<void>;
}

/** The caller on whose behalf statements run. Without a customer, the caller is the partner itself. */
export type CallerScope = AudienceReach & {
  /**
   * The names of the caller in the audit log and in records. Absent for work that is not part of a request from the
   * caller.
   */
  readonly caller?: { readonly actor: string; readonly requester: string };
};

/**
 * Restricts `run` to the caller's data. The restriction also applies to work that `run` starts and that continues after
 * `run` returns.
 */
export type AsCaller = <T>(scope: CallerScope, run: () => T) => T;
