import type { AudienceScope } from '../domain/audience.ts';
import type { EventContent, EventType, LoggedEvent } from '../domain/event.ts';
import type { PartnerId } from '../domain/ids.ts';

/** An event that is not in the event log yet. `customerId` is null if it concerns the partner itself. */
export type NewEvent = EventContent & { readonly partnerId: PartnerId; readonly customerId: number | null };

export type EventPage = {
  readonly after: number;
  readonly limit: number;
  /** Lists the events before this sequence number, newest first. Omits events whose type this release does not know. */
  readonly newestBefore?: number;
  /** Types that the caller cannot see. */
  readonly hidden: readonly EventType[];
};

/** Each event is written in the same transaction as the change it reports, so only the stores append to the log. */
export interface EventLog {
  /** Returns the events after this sequence number: those of one customer, or all of the partner's events. */
  list(scope: AudienceScope, page: EventPage): Promise<readonly LoggedEvent[]>;
  /** Deletes expired events and deliveries, expired secrets, and deleted webhooks with their deliveries. */
  removeExpired(signal: AbortSignal): Promise<void>;
}
