import type { AudienceScope } from '../../domain/audience.ts';
import type { Split } from '../../domain/composition/counts.ts';
import type { Order, ReportEntry } from '../../domain/composition/protection.ts';
import { Failure } from '../../domain/failure.ts';
import type { CompositionStore, StoredReport } from '../../ports/audience-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { CompositionComputer } from './compute-composition.ts';

export type CompositionDeps = {
  readonly compositions: CompositionStore;
  readonly computer: CompositionComputer;
  readonly timeoutMs: number;
  readonly log: Log;
};

export type CompositionQuestion = { readonly split: Split | null; readonly order: Order; readonly limit: number };

export type Composition = {
  readonly audienceId: number;
  readonly matchedDevices: number;
  readonly warehouseDevices: number;
  readonly isProtected: boolean;
  readonly computedAt: Date;
  readonly entries: readonly (ReportEntry & { readonly name: string })[];
};

/** Reads the published report. If there is none, waits for its computation. */
export async function getComposition(
  deps: CompositionDeps,
  scope: AudienceScope,
  warehouseSegmentId: number,
  question: CompositionQuestion,
): Promise<Composition> {
  const audience = await deps.compositions.findAudience(scope, warehouseSegmentId);
  if (!audience) throw new Failure('not_found', `Segment ${warehouseSegmentId} does not exist.`);
  const { report, computedAt } =
    (await deps.computer.find(audience, question.split)) ??
    (await waitFor(deps, deps.computer.compute(audience, question.split), audience.audienceId));
  const entries = report.top[question.order].slice(0, question.limit);
  const names = await deps.compositions.nameAttributes([...new Set(entries.map(({ attributeId }) => attributeId))]);
  return {
    audienceId: audience.audienceId,
    matchedDevices: report.matchedDevices,
    warehouseDevices: report.warehouseDevices,
    isProtected: report.isProtected,
    computedAt,
    entries: entries.map((entry) => ({ ...entry, name: names.get(entry.attributeId) ?? '' })),
  };
}

/** The computation continues after the caller's timeout. A failure after the timeout is only logged. */
async function waitFor(
  deps: CompositionDeps,
  computing: Promise<StoredReport>,
  audienceId: number,
): Promise<StoredReport> {
  let isWaiting = true;
  computing.catch((error: unknown) => {
    if (!isWaiting) deps.log.error({ audienceId, err: error }, 'composition report failed');
  });
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), deps.timeoutMs);
  });
  try {
    const stored = await Promise.race([computing, overdue]);
    if (stored) return stored;
    throw new Failure('report_not_ready', 'The report is still being computed.');
  } finally {
    isWaiting = false;
    clearTimeout(timer);
  }
}
