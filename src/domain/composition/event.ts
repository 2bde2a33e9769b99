import type { Split } from './counts.ts';

/** What happened. The data contains IDs, but no device IDs and no counts. */
export type EventContent = {
  readonly type: 'report.ready';
  readonly data: { readonly audienceId: number; readonly warehouseSegmentId: number; readonly split: Split | null };
};

/** An entry in a partner's event log. Sequence numbers have no gaps. */
export type LoggedEvent = EventContent & {
  readonly sequence: number;
  /** The customer's name, or null if the event concerns the partner itself. */
  readonly customer: string | null;
  readonly createdAt: Date;
};

/** After this number of days, events are deleted. */
export const eventDays = 30;
