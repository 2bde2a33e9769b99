import type { PartnerId } from '../domain/ids.ts';

/** A removal of the rows up to a position in the lane of a partner. */
export type UnseenRemoval = { readonly partnerId: PartnerId; readonly lastSeq: number };

export type UnseenCount = { readonly rows: number; readonly attributeIds: readonly number[] };

/** The state of a partner's device retention. */
export type DeviceRetentionState = {
  readonly deviceDays: number | null;
  readonly removedRows: number;
  readonly removedAt: Date | null;
  /** The next removal. Null if devices are kept. */
  readonly dueAt: Date | null;
  /** Why the last attempt failed. */
  readonly failure: string | null;
};

export interface DeviceRetention {
  hasDue(): Promise<boolean>;
  /** Calls `run` unless another process removes devices. Returns whether `run` was called. */
  runAlone(run: () => Promise<void>): Promise<boolean>;
  /** Lists partners whose rows are to be checked, longest overdue first. */
  listDue(limit: number): Promise<readonly PartnerId[]>;
  /**
   * The point of no return: records which rows are removed, so that an interrupted removal continues and a repair does not
   * restore them. Returns null if nothing can be removed now, for example while the partner is suspended.
   */
  begin(partnerId: PartnerId, jobDays: number): Promise<UnseenRemoval | null>;
  /** Records what the removal found, before the first row is removed. A repeated attempt finds less and changes nothing. */
  recordFound(removal: UnseenRemoval, found: UnseenCount): Promise<void>;
  /** Records that no row is left. Notes the changed attributes for the device index and adds an entry to the audit log. */
  finish(removal: UnseenRemoval): Promise<void>;
  postpone(partnerId: PartnerId, seconds: number, failure: string | null): Promise<void>;
}

/**
 * The partner's attribute rows in ClickHouse that were last written by jobs up to a position. Every method can be
 * repeated.
 */
export interface UnseenRows {
  /** Counts the rows and lists their attributes. */
  find(removal: UnseenRemoval): Promise<UnseenCount>;
  remove(removal: UnseenRemoval, signal: AbortSignal): Promise<void>;
  /** Counts the rows on every replica. Throws if one is unavailable. */
  countRemaining(removal: UnseenRemoval): Promise<number>;
}
