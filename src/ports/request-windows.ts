import type { PartnerId } from '../domain/partner.ts';

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
