import type { AudienceScope } from '../domain/audience.ts';
import type { BudgetKind, SpentDraws } from '../domain/composition/budget.ts';
import type { CompositionCounts, Counting } from '../domain/composition/counts.ts';
import type { OverlapCounts, PublishedOverlap } from '../domain/composition/overlap.ts';
import type { Order, PublishedCounts, PublishedReport } from '../domain/composition/protection.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { FoldedAudience, IndexState } from './device-index.ts';
import type { Generation } from './warehouse.ts';

/** The state of an audience after its latest load. Counts from an earlier state are stale. */
export type AudienceState = Generation & { readonly customerId: number | null; readonly lastLoadId: number };

/** A report on an audience. `settings` identifies the protection and the noise key. */
export type WantedReport = {
  readonly audience: AudienceState;
  readonly counting: Counting;
  readonly settings: string;
};

export type StoredCounts = { readonly counts: CompositionCounts; readonly computedAt: Date };

/** `baselineDevices` is null if there is no baseline or if the baseline's count is hidden or missing. */
export type EntryCounts = PublishedCounts & { readonly baselineDevices: number | null };

/** The entries of a published report that a response contains. */
export type StoredReport = Omit<PublishedReport, 'top' | 'cells' | 'countries'> & {
  /** The number of devices in the baseline. Null if there is none. */
  readonly baselineDevices: number | null;
  readonly entries: readonly EntryCounts[];
  readonly computedAt: Date;
};

export type EntryPage = { readonly order: Order; readonly limit: number };

/** The same groups in another report: those of another audience, or the devices of one country in the warehouse. */
type BaselineReport = { readonly report: WantedReport; readonly country: string | null };

/** Selects entries of a report. `limit` is null for all entries. */
export type Comparison = {
  readonly order: Order;
  readonly offset: number;
  readonly limit: number | null;
  /** A part of the attribute's name, in upper or lower case. */
  readonly name: string | null;
  readonly omitsSmall: boolean;
  readonly baseline: BaselineReport | null;
};

export type AttributeDescription = { readonly name: string; readonly provider: string };

/** Published composition reports, and requests for new ones. */
export interface CompositionStore {
  /** Returns null when the scope has no such segment. */
  findAudience(scope: AudienceScope, warehouseSegmentId: number): Promise<AudienceState | null>;
  /** Returns null if no report on this state was published with these settings. */
  findPublished(wanted: WantedReport, page: EntryPage): Promise<StoredReport | null>;
  /** Returns the last report on an earlier load. Ignores reports from before the audience was cleared. */
  findEarlier(wanted: WantedReport, page: EntryPage): Promise<StoredReport | null>;
  /**
   * Reads any number of entries together with their baseline counts. The totals cover the entries whose name matches,
   * including small ones. Returns null unless both reports are published.
   */
  compare(wanted: WantedReport, comparison: Comparison): Promise<StoredReport | null>;
  /** Whether exact counts of this generation are stored. Publishing stored counts uses no draw. */
  isCounted(wanted: WantedReport): Promise<boolean>;
  /**
   * Requests a report from the workers. If the partner has too many open requests, adds no request and returns false.
   */
  request(wanted: WantedReport, maxOpen: number): Promise<boolean>;
  isRequested(wanted: WantedReport): Promise<boolean>;
  describeAttributes(ids: readonly number[]): Promise<ReadonlyMap<number, AttributeDescription>>;
}

/**
 * A request that a worker has claimed. The report describes the audience's current state, which may be later than the
 * requested state.
 */
export type ClaimedRequest = WantedReport & { readonly requestedState: string };

/** The requests for composition reports that workers compute. */
export interface ReportQueue {
  /**
   * Claims a request whose audience is in the device index. Partners take turns. Returns null if there is no such
   * request. After `seconds`, another worker can claim the request.
   */
  claimRequest(settings: string, seconds: number): Promise<ClaimedRequest | null>;
  /** Makes a request available to all workers after this time. */
  postpone(request: ClaimedRequest, seconds: number): Promise<void>;
  /** Ends a request, unless the report was requested again for a later state. */
  end(request: ClaimedRequest): Promise<void>;
  /** Returns the latest load of this generation whose counts are stored. */
  findCounted(wanted: WantedReport): Promise<{ readonly lastLoadId: number; readonly computedAt: Date } | null>;
  /** Returns null when no counts of this state are stored. A report can have 50,000 counts. */
  readCounts(wanted: WantedReport): Promise<CompositionCounts | null>;
  isPublished(wanted: WantedReport): Promise<boolean>;
  /**
   * Charges the budget and stores the counts in one transaction. `superseded` means that counts of this or a later
   * state were stored in the meantime, and that nothing was charged.
   */
  saveCounts(
    wanted: WantedReport,
    stored: StoredCounts,
    charge: Charge,
  ): Promise<'saved' | 'budget spent' | 'superseded'>;
  /** Stores the published report with the counts of the same state, and logs the event `report.ready`. */
  savePublished(wanted: WantedReport, report: PublishedReport): Promise<void>;
  /** Calls `run`, or returns null if a process is already running a function for this audience and counting method. */
  runAlone<T>(wanted: WantedReport, run: () => Promise<T>): Promise<T | null>;
  /** Whether the audience is still in this state. */
  isCurrent(audience: AudienceState): Promise<boolean>;
  /** Returns null until the device index contains this state of the audience. */
  findIndexState(audience: AudienceState): Promise<IndexState | null>;
  /** Deletes requests that nobody is waiting for anymore, and draws and overlaps older than the budget period. */
  removeExpired(): Promise<void>;
}

/** The owner of a privacy budget. */
export type BudgetOwner = { readonly partnerId: PartnerId; readonly customerId: number | null };

/** What a report costs. */
export type Price = { readonly owner: BudgetOwner; readonly kind: BudgetKind; readonly draws: number };

/**
 * The price of a report. The draws are recorded together with the report, provided that `isAllowed` accepts the draws
 * already spent.
 */
export type Charge = Price & { readonly isAllowed: (spent: SpentDraws) => boolean };

/** The draws of the last 30 days. */
export interface BudgetStore {
  findSpent(owner: BudgetOwner, kind: BudgetKind): Promise<SpentDraws>;
}

export interface OverlapStore {
  /** Returns the audiences that exist in the scope, in the order of `audienceIds`. */
  findAudiences(scope: AudienceScope, audienceIds: readonly number[]): Promise<readonly AudienceState[]>;
  /** Returns null until the device index contains the current state of all of these audiences. */
  findFolded(audiences: readonly AudienceState[]): Promise<readonly FoldedAudience[] | null>;
  find(partnerId: PartnerId, key: string): Promise<StoredOverlap | null>;
  /**
   * Charges the budget and stores an overlap. If the same overlap is already stored, charges nothing and returns the
   * stored overlap. Returns null if the budget is spent.
   */
  save(key: string, overlap: PublishedOverlap, charge: Charge): Promise<StoredOverlap | null>;
}

export type StoredOverlap = { readonly overlap: PublishedOverlap; readonly computedAt: Date };

export interface OverlapCounter {
  /** Returns null if the bitmaps of an audience have changed in the meantime. */
  count(audiences: readonly FoldedAudience[], signal: AbortSignal): Promise<OverlapCounts | null>;
}
