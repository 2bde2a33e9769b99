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

/** A report of an audience. `settings` identifies the protection and the noise key. */
export type WantedReport = {
  readonly audience: AudienceState;
  readonly counting: Counting;
  readonly settings: string;
};

export type StoredCounts = { readonly counts: CompositionCounts; readonly computedAt: Date };

/** `baselineDevices` is null without a baseline, and if the count in the baseline is hidden or missing. */
export type EntryCounts = PublishedCounts & { readonly baselineDevices: number | null };

/** The entries of a published report that a response contains. */
export type StoredReport = Omit<PublishedReport, 'top' | 'cells' | 'countries'> & {
  /** The number of devices in the baseline. Null without a baseline. */
  readonly baselineDevices: number | null;
  readonly entries: readonly EntryCounts[];
  readonly computedAt: Date;
};

export type EntryPage = { readonly order: Order; readonly limit: number };

/** The same groups in another report: those of another audience, or the devices of one country in the warehouse. */
type BaselineReport = { readonly report: WantedReport; readonly country: string | null };

/** `limit` is null for all entries. */
export type Comparison = {
  readonly order: Order;
  readonly limit: number | null;
  readonly baseline: BaselineReport | null;
};

export type AttributeDescription = { readonly name: string; readonly provider: string };

/** Composition reports that were published, and the requests for new ones. */
export interface CompositionStore {
  /** Returns null when the scope has no such segment. */
  findAudience(scope: AudienceScope, warehouseSegmentId: number): Promise<AudienceState | null>;
  /** Returns null when no report of this state was published with these settings. */
  findPublished(wanted: WantedReport, page: EntryPage): Promise<StoredReport | null>;
  /** Returns the last report of an earlier load. Ignores reports from before the audience was cleared. */
  findEarlier(wanted: WantedReport, page: EntryPage): Promise<StoredReport | null>;
  /** Reads any number of entries, next to a baseline. Returns null unless both reports are published. */
  compare(wanted: WantedReport, comparison: Comparison): Promise<StoredReport | null>;
  /** Whether exact counts of this generation are stored, so that publishing them needs no draw. */
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

/** The computation of composition reports by workers. */
export interface ReportQueue {
  /**
   * Claims a request whose audience is in the device index. Partners take turns. Returns null if there is no such
   * request. After `seconds`, another worker can claim the request again.
   */
  claimRequest(settings: string, seconds: number): Promise<ClaimedRequest | null>;
  /** Makes a request available to all workers after this time. */
  postpone(request: ClaimedRequest, seconds: number): Promise<void>;
  /** Ends a request, unless it has been repeated for a later state. */
  end(request: ClaimedRequest): Promise<void>;
  /** Returns the latest load of this generation whose counts are stored. */
  findCounted(wanted: WantedReport): Promise<{ readonly lastLoadId: number; readonly computedAt: Date } | null>;
  /** Returns null when no counts of this state are stored. A report can have 50,000 counts. */
  readCounts(wanted: WantedReport): Promise<CompositionCounts | null>;
  isPublished(wanted: WantedReport): Promise<boolean>;
  /**
   * Charges the budget and stores the counts in one transaction. `superseded` means that counts of this or a later state were stored in the
   * meantime, and that nothing was charged.
   */
  saveCounts(
    wanted: WantedReport,
    stored: StoredCounts,
    charge: Charge,
  ): Promise<'saved' | 'budget spent' | 'superseded'>;
  /** Stores the published report next to the counts of the same state, and logs the event `report.ready`. */
  savePublished(wanted: WantedReport, report: PublishedReport): Promise<void>;
  /**
   * Runs the function, unless a process is already running one for this audience and counting method. Returns null in
   * that case.
   */
  runAlone<T>(wanted: WantedReport, run: () => Promise<T>): Promise<T | null>;
  /** Whether the audience is still in this state. */
  isCurrent(audience: AudienceState): Promise<boolean>;
  /** Returns null until the device index contains this state of the audience. */
  findIndexState(audience: AudienceState): Promise<IndexState | null>;
  /** Deletes requests that nobody waits for anymore, and draws and overlaps that are older than the budget period. */
  removeExpired(): Promise<void>;
}

/** The owner of a privacy budget. */
export type BudgetOwner = { readonly partnerId: PartnerId; readonly customerId: number | null };

/** What a report costs. */
export type Price = { readonly owner: BudgetOwner; readonly kind: BudgetKind; readonly draws: number };

/**
 * The price of a report. Its draws are recorded together with its result, if `isAllowed` accepts the draws that were
 * spent before.
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
   * Charges the budget and stores an overlap. If the same overlap is already stored, charges nothing and returns that one. Returns null if
   * the budget is spent.
   */
  save(key: string, overlap: PublishedOverlap, charge: Charge): Promise<StoredOverlap | null>;
}

export type StoredOverlap = { readonly overlap: PublishedOverlap; readonly computedAt: Date };

export interface OverlapCounter {
  /** Returns null if the bitmaps of an audience have changed in the meantime. */
  count(audiences: readonly FoldedAudience[], signal: AbortSignal): Promise<OverlapCounts | null>;
}
