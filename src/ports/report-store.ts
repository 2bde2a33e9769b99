import type { AudienceScope } from '../domain/audience.ts';
import type { BudgetKind, SpentDraws } from '../domain/composition/budget.ts';
import type { CompositionCounts, Counting } from '../domain/composition/counts.ts';
import type { OverlapCounts, PublishedOverlap } from '../domain/composition/overlap.ts';
import type { Order, PublishedReport, ReportEntry } from '../domain/composition/protection.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { FoldedAudience, IndexState } from './device-index.ts';
import type { Generation } from './warehouse.ts';

/** The state of an audience after its latest load. Counts from an earlier state are stale. */
export type AudienceState = Generation & { readonly customerId: number | null; readonly lastLoadId: number };

/** A report of an audience. The settings identify the protection and the key of the noise. */
export type WantedReport = {
  readonly audience: AudienceState;
  readonly counting: Counting;
  readonly settings: string;
};

export type StoredCounts = { readonly counts: CompositionCounts; readonly computedAt: Date };

/** The entries of a published report that a response contains. */
export type StoredReport = Omit<PublishedReport, 'top'> & {
  readonly entries: readonly ReportEntry[];
  readonly computedAt: Date;
};

export type EntryPage = { readonly order: Order; readonly limit: number };

export type AttributeDescription = { readonly name: string; readonly provider: string };

/** Composition reports that were published, and the requests for new ones. */
export interface CompositionStore {
  /** Returns null when the scope has no such segment. */
  findAudience(scope: AudienceScope, warehouseSegmentId: number): Promise<AudienceState | null>;
  /** Returns null when no report of this state was published with these settings. */
  findPublished(wanted: WantedReport, page: EntryPage): Promise<StoredReport | null>;
  /** Returns the last report of an earlier load. Reports of cleared devices are not returned. */
  findEarlier(wanted: WantedReport, page: EntryPage): Promise<StoredReport | null>;
  /** Whether exact counts of this generation are stored, so that publishing them needs no draw. */
  isCounted(wanted: WantedReport): Promise<boolean>;
  /** Requests a report from the workers. Returns false if it is not requested because the partner has too many open requests. */
  request(wanted: WantedReport, maxOpen: number): Promise<boolean>;
  isRequested(wanted: WantedReport): Promise<boolean>;
  describeAttributes(ids: readonly number[]): Promise<ReadonlyMap<number, AttributeDescription>>;
}

/** A request that a worker has claimed. The report is that of the current state, which may be later than the requested one. */
export type ClaimedRequest = WantedReport & { readonly requestedState: string };

/** The computation of composition reports by workers. */
export interface ReportQueue {
  /**
   * Claims a request whose audience is in the device index, in turn for each partner. Returns null if there is none. Another worker can
   * claim it again after this time.
   */
  claimRequest(settings: string, seconds: number): Promise<ClaimedRequest | null>;
  /** Makes a request available to all workers after this time. */
  postpone(request: ClaimedRequest, seconds: number): Promise<void>;
  /** Ends a request, unless it has been repeated for a later state. */
  end(request: ClaimedRequest): Promise<void>;
  /** Returns the counts of the latest load of this generation that was counted. */
  findCounts(wanted: WantedReport): Promise<(StoredCounts & { readonly lastLoadId: number }) | null>;
  isPublished(wanted: WantedReport): Promise<boolean>;
  /**
   * Charges the budget and stores the counts, unless counts of a later state are already stored. Returns false if the budget is spent.
   */
  saveCounts(wanted: WantedReport, stored: StoredCounts, charge: Charge): Promise<boolean>;
  /** Stores the published report next to the counts of the same state. */
  savePublished(wanted: WantedReport, report: PublishedReport): Promise<void>;
  /** Runs the function. Returns null if any process is already running a function for this audience and counting method. */
  runAlone<T>(wanted: WantedReport, run: () => Promise<T>): Promise<T | null>;
  /** Whether the audience is still in this state. */
  isCurrent(audience: AudienceState): Promise<boolean>;
  /** Returns null until the device index contains this state of the audience. */
  findIndexState(audience: AudienceState): Promise<IndexState | null>;
  /** Deletes requests that nobody waits for anymore, and draws and overlaps that are older than the period of the budget. */
  removeExpired(): Promise<void>;
}

/** The owner of a privacy budget. */
export type BudgetOwner = { readonly partnerId: PartnerId; readonly customerId: number | null };

/** What a report costs. */
export type Price = { readonly owner: BudgetOwner; readonly kind: BudgetKind; readonly draws: number };

/** Records the draws of a report together with its result, if the draws that were spent before allow it. */
export type Charge = Price & { readonly isAllowed: (spent: SpentDraws) => boolean };

/** The draws of the last 30 days. */
export interface BudgetStore {
  findSpent(owner: BudgetOwner, kind: BudgetKind): Promise<SpentDraws>;
}

export interface OverlapStore {
  /** Returns the audiences of the scope that exist, in the order of the IDs. */
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
