import type { AudienceScope } from '../../domain/audience.ts';
import { isExpired } from '../../domain/composition/budget.ts';
import { type Split, countingOf } from '../../domain/composition/counts.ts';
import { type Protection, type ReportEntry, isProtecting } from '../../domain/composition/protection.ts';
import { type Range, countRange, indexRange } from '../../domain/composition/ranges.ts';
import { Failure } from '../../domain/failure.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type {
  AttributeDescription,
  CompositionStore,
  EntryPage,
  StoredReport,
  WantedReport,
} from '../../ports/report-store.ts';
import type { RequireTopology } from '../admin/topology.ts';
import { type BudgetDeps, limitReached, whenPossible } from './report-budget.ts';

export type CompositionDeps = BudgetDeps & {
  readonly compositions: CompositionStore;
  readonly requireTopology: RequireTopology;
  readonly protection: Protection;
  /** Identifies the protection and the noise key. A report is published again after either of them changes. */
  readonly reportSettings: string;
  readonly timeoutMs: number;
};

export type CompositionQuestion = EntryPage & { readonly split: Split | null };

export type CompositionEntry = ReportEntry &
  AttributeDescription & { readonly deviceRange: Range | null; readonly indexRange: Range | null };

export type Composition = Omit<StoredReport, 'entries'> & {
  readonly audienceId: number;
  /** The time until which the privacy budget does not allow a new report. Null for a report of the current load. */
  readonly nextReportAt: Date | null;
  readonly entries: readonly CompositionEntry[];
};

/** Maximum number of reports per customer that workers have not computed yet. Further requests get `report_not_ready`. */
const maxOpenRequests = 20;

/** Maximum number of calls per partner that wait for a report in one process. */
const maxWaiting = 20;

const firstPollMs = 50;
const maxPollMs = 500;

/** Reads the published report. If there is none, waits until a worker has computed it. */
export async function getComposition(
  deps: CompositionDeps,
  scope: AudienceScope,
  warehouseSegmentId: number,
  question: CompositionQuestion,
): Promise<Composition> {
  const { compositions, protection } = deps;
  const find = async (): Promise<WantedReport> => {
    const audience = await compositions.findAudience(scope, warehouseSegmentId);
    if (!audience) throw new Failure('not_found', `Segment ${warehouseSegmentId} does not exist.`);
    const counting = countingOf(question.split, isProtecting(protection));
    return { audience, counting, settings: deps.reportSettings };
  };
  const wanted = await find();
  const found = await findStored(deps, wanted, question);
  const report = found ?? (await whileWaiting(scope.partnerId, () => waitForReport(deps, find, question)));
  const { entries, ...totals } = report;
  const ids = [...new Set(entries.map(({ attributeId }) => attributeId))];
  const attributes = await compositions.describeAttributes(ids);
  return {
    ...totals,
    audienceId: wanted.audience.audienceId,
    entries: entries.map((entry) => ({
      ...entry,
      ...(attributes.get(entry.attributeId) ?? { name: '', provider: '' }),
      deviceRange: entry.devices === null ? null : countRange(entry.devices, protection),
      indexRange: indexRange(entry, totals, protection),
    })),
  };
}

type FoundReport = StoredReport & { readonly nextReportAt: Date | null };

async function findStored(deps: CompositionDeps, wanted: WantedReport, page: EntryPage): Promise<FoundReport | null> {
  const found = await deps.compositions.findPublished(wanted, page);
  if (!found) return null;
  if (isExpired(found.computedAt, new Date())) await refresh(deps, wanted);
  return { ...found, nextReportAt: null };
}

const waiting = new Map<PartnerId, number>();

async function whileWaiting<T>(partnerId: PartnerId, wait: () => Promise<T>): Promise<T> {
  const others = waiting.get(partnerId) ?? 0;
  if (others >= maxWaiting) throw new Failure('report_not_ready', `${others} of your calls already wait for reports.`);
  waiting.set(partnerId, others + 1);
  try {
    return await wait();
  } finally {
    const left = (waiting.get(partnerId) ?? 1) - 1;
    if (left === 0) waiting.delete(partnerId);
    else waiting.set(partnerId, left);
  }
}

/** The audience can change while the caller waits, so its state is read each time. */
async function waitForReport(
  deps: CompositionDeps,
  find: () => Promise<WantedReport>,
  page: EntryPage,
): Promise<FoundReport> {
  const { compositions, requireTopology, timeoutMs } = deps;
  await requireTopology();
  const end = performance.now() + timeoutMs;
  for (let pauseMs = firstPollMs; ; pauseMs = Math.min(maxPollMs, pauseMs * 1.2)) {
    const wanted = await find();
    // Read before the report, because the request ends after the report is stored.
    const isRequested = await compositions.isRequested(wanted);
    const found = await findStored(deps, wanted, page);
    if (found) return found;
    if (!isRequested) {
      const earlier = await findEarlierIfSpent(deps, wanted, page);
      if (earlier) return earlier;
      if (!(await compositions.request(wanted, maxOpenRequests)))
        throw new Failure('report_not_ready', `${maxOpenRequests} of your reports already wait to be computed.`);
    }
    if (performance.now() > end) throw new Failure('report_not_ready', 'The report is still being computed.');
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * Returns null if the budget allows a new report, or if a worker can publish an earlier one with the current settings. Otherwise, returns
 * the earlier report, or fails if there is none.
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

/** Requests a new report in the background. Half of the budget is reserved for reports on audiences that have changed. */
async function refresh(deps: CompositionDeps, wanted: WantedReport): Promise<void> {
  const half = Math.max(1, Math.floor(deps.reportLimits.perCustomer / 2));
  const ofCustomer = { ...deps, reportLimits: { ...deps.reportLimits, perPartnerAndDay: 0 } };
  const next = await whenPossible(ofCustomer, { owner: wanted.audience, kind: 'composition', draws: half });
  if (next === null) await deps.compositions.request(wanted, maxOpenRequests);
}
