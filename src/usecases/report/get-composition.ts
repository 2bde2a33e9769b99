import type { AudienceScope } from '../../domain/audience.ts';
import { isExpired } from '../../domain/composition/budget.ts';
import { type ComparedEntry, compareEntry } from '../../domain/composition/baseline.ts';
import { type Split, countingOf } from '../../domain/composition/counts.ts';
import { type Protection, isProtecting } from '../../domain/composition/protection.ts';
import { type Range, countRange } from '../../domain/composition/ranges.ts';
import { Failure } from '../../domain/failure.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type {
  AttributeDescription,
  Comparison,
  CompositionStore,
  EntryPage,
  StoredReport,
  WantedReport,
} from '../../ports/report-store.ts';
import type { RequireTopology } from '../admin/topology.ts';
import { followerLimit } from '../follow/record-broadcaster.ts';
import type { RetryOnChange } from '../follow/retry-on-change.ts';
import { type BudgetDeps, limitReached, whenPossible } from './report-budget.ts';

export type CompositionDeps = BudgetDeps & {
  readonly compositions: CompositionStore;
  readonly requireTopology: RequireTopology;
  readonly protection: Protection;
  /** Identifies the protection and the noise key. A report is published again after either one changes. */
  readonly reportSettings: string;
  readonly timeoutMs: number;
  /** Retries whenever a report for the partner is finished. */
  readonly retryOnChange: RetryOnChange;
};

/** The devices that a report is compared with, instead of the whole warehouse. */
export type Baseline = { readonly warehouseSegmentId: number } | { readonly country: string };

export type CompositionQuestion = Omit<Comparison, 'baseline'> & {
  readonly split: Split | null;
  readonly baseline: Baseline | null;
};

export type CompositionEntry = ComparedEntry & AttributeDescription & { readonly deviceRange: Range | null };

export type Composition = Omit<StoredReport, 'entries'> & {
  readonly audienceId: number;
  /** The time at which the privacy budget allows a new report. Null for a report on the current load. */
  readonly nextReportAt: Date | null;
  readonly entries: readonly CompositionEntry[];
};

/**
 * Maximum number of reports per customer that workers have not computed yet. Further requests get `report_not_ready`.
 */
const maxOpenRequests = 20;

/** Maximum number of calls per partner that wait for a report in one process. A customer gets a share of it. */
const maxWaiting = 20;

/** Reads the published report. If there is none, waits until a worker has computed it. */
export async function getComposition(
  deps: CompositionDeps,
  scope: AudienceScope,
  warehouseSegmentId: number,
  question: CompositionQuestion,
): Promise<Composition> {
  const { split, order, limit, baseline } = question;
  const isTop = limit !== null && question.offset === 0 && question.name === null && !question.omitsSmall;
  const find = () => findWanted(deps, scope, warehouseSegmentId, split);
  const findBaseline = baseline && (() => findBaselineReport(deps, scope, warehouseSegmentId, question, baseline));
  const wanted = await find();
  const wantedBaseline = findBaseline && (await findBaseline());
  // Both reports are requested at once, so that the caller waits only for the slower one.
  const [report, ofBaseline] = await Promise.all([
    obtain(deps, wanted, find, { order, limit: limit ?? 1 }),
    wantedBaseline && obtain(deps, wantedBaseline, findBaseline, { order: 'devices', limit: 1 }),
  ]);
  const compared = !isTop || findBaseline ? await compare(deps, { find, findBaseline, question }) : report;
  return {
    ...compared,
    nextReportAt: later(report.nextReportAt, ofBaseline?.nextReportAt ?? null),
    audienceId: wanted.audience.audienceId,
    entries: await describeEntries(deps, compared),
  };
}

function later(one: Date | null, other: Date | null): Date | null {
  if (!one || !other) return one ?? other;
  return one > other ? one : other;
}

async function findWanted(
  { compositions, protection, reportSettings }: CompositionDeps,
  scope: AudienceScope,
  warehouseSegmentId: number,
  split: Split | null,
): Promise<WantedReport> {
  const audience = await compositions.findAudience(scope, warehouseSegmentId);
  if (!audience) throw new Failure('not_found', `Segment ${warehouseSegmentId} does not exist.`);
  return { audience, counting: countingOf(split, isProtecting(protection)), settings: reportSettings };
}

/** The number of devices in each country comes from the same audience's report that is split by country. */
function findBaselineReport(
  deps: CompositionDeps,
  scope: AudienceScope,
  warehouseSegmentId: number,
  { split }: CompositionQuestion,
  baseline: Baseline,
): Promise<WantedReport> {
  return 'country' in baseline
    ? findWanted(deps, scope, warehouseSegmentId, 'country')
    : findWanted(deps, scope, baseline.warehouseSegmentId, split);
}

type Comparing = {
  readonly find: () => Promise<WantedReport>;
  readonly findBaseline: (() => Promise<WantedReport>) | null;
  readonly question: CompositionQuestion;
};

async function compare(deps: CompositionDeps, { find, findBaseline, question }: Comparing): Promise<StoredReport> {
  const { baseline } = question;
  const country = baseline && 'country' in baseline ? baseline.country : null;
  const compared = await deps.compositions.compare(await find(), {
    ...question,
    baseline: findBaseline && { report: await findBaseline(), country },
  });
  if (!compared) throw new Failure('report_not_ready', 'The report is being computed again.');
  return compared;
}

/** The number of entries to describe before other requests get a turn. */
const entriesPerPortion = 1_000;

async function describeEntries(
  { compositions, protection }: CompositionDeps,
  report: StoredReport,
): Promise<readonly CompositionEntry[]> {
  const attributes = await compositions.describeAttributes([
    ...new Set(report.entries.map(({ attributeId }) => attributeId)),
  ]);
  const described: CompositionEntry[] = [];
  for (const [index, entry] of report.entries.entries()) {
    if (index % entriesPerPortion === entriesPerPortion - 1) await new Promise((resolve) => setImmediate(resolve));
    described.push({
      ...compareEntry(entry, report, protection),
      ...(attributes.get(entry.attributeId) ?? { name: '', provider: '' }),
      deviceRange: entry.devices === null ? null : countRange(entry.devices, protection),
    });
  }
  return described;
}

/** Returns the published report. If there is none, waits until a worker has computed it. */
async function obtain(
  deps: CompositionDeps,
  wanted: WantedReport,
  find: () => Promise<WantedReport>,
  page: EntryPage,
): Promise<FoundReport> {
  const { audience } = wanted;
  const found = await findStored(deps, wanted, page);
  return found ?? (await whileWaiting(audience, () => waitForReport(deps, audience.partnerId, find, page)));
}

type FoundReport = StoredReport & { readonly nextReportAt: Date | null };

async function findStored(deps: CompositionDeps, wanted: WantedReport, page: EntryPage): Promise<FoundReport | null> {
  const found = await deps.compositions.findPublished(wanted, page);
  if (!found) return null;
  if (isExpired(found.computedAt, new Date())) await refresh(deps, wanted);
  return { ...found, nextReportAt: null };
}

const waits = followerLimit({ ofProcess: Number.POSITIVE_INFINITY, ofPartner: maxWaiting });

async function whileWaiting<T>(owner: AudienceScope, wait: () => Promise<T>): Promise<T> {
  const release = waits.take(owner);
  if (!release) throw new Failure('report_not_ready', 'Too many of your calls are already waiting for reports.');
  try {
    return await wait();
  } finally {
    release();
  }
}

/** The audience can change while the caller waits, so its state is read each time. */
async function waitForReport(
  deps: CompositionDeps,
  partnerId: PartnerId,
  find: () => Promise<WantedReport>,
  page: EntryPage,
): Promise<FoundReport> {
  const { compositions } = deps;
  await deps.requireTopology();
  const attempt = async (): Promise<FoundReport | null> => {
    const wanted = await find();
    // Read before the report, because the request ends after the report is stored.
    const isRequested = await compositions.isRequested(wanted);
    const found = await findStored(deps, wanted, page);
    if (found || isRequested) return found;
    const earlier = await findEarlierIfSpent(deps, wanted, page);
    if (earlier) return earlier;
    if (!(await compositions.request(wanted, maxOpenRequests)))
      throw new Failure('report_not_ready', `${maxOpenRequests} of your reports are already waiting to be computed.`);
    return null;
  };
  const report = await deps.retryOnChange(partnerId, attempt, deps.timeoutMs);
  if (!report) throw new Failure('report_not_ready', 'The report is still being computed.');
  return report;
}

/**
 * Returns null if the budget allows a new report, or if exact counts are already stored and a worker only has to
 * publish them with the current settings. Otherwise, returns the report on an earlier load, or fails if there is none.
 */
async function findEarlierIfSpent(
  deps: CompositionDeps,
  wanted: WantedReport,
  page: EntryPage,
): Promise<FoundReport | null> {
  const next = await whenPossible(deps, { owner: wanted.audience, kind: 'composition', draws: 1 });
  if (next === null) return null;
  const earlier = await deps.compositions.findEarlier(wanted, page);
  if (earlier && next !== 'never') return { ...earlier, nextReportAt: next };
  if (await deps.compositions.isCounted(wanted)) return null;
  throw limitReached(next);
}

/**
 * Requests a new report in the background. Half of the budget is reserved for reports on audiences that have changed.
 */
async function refresh(deps: CompositionDeps, wanted: WantedReport): Promise<void> {
  const half = Math.max(1, Math.floor(deps.reportLimits.perCustomer / 2));
  const ofCustomer = { ...deps, reportLimits: { ...deps.reportLimits, perPartnerAndDay: 0 } };
  const next = await whenPossible(ofCustomer, { owner: wanted.audience, kind: 'composition', draws: half });
  if (next === null) await deps.compositions.request(wanted, maxOpenRequests);
}
