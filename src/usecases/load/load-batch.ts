import {
  type Shapes,
  faultOfCompression,
  faultOfRows,
  faultOfSize,
  noBytes,
  noRows,
  rowsOf,
  unpackedTooLarge,
} from '@inlet/row-rule/file-rule';
import { type RowLayout, audienceShapes, marketplaceShapes } from '@inlet/row-rule/row-rule';
import { Failure } from '../../domain/failure.ts';
import type { BatchId } from '../../domain/ids.ts';
import type { Limits } from '../../domain/limits.ts';
import { type ShardRows, stagingDifference } from '../../domain/row-account.ts';
import { failureOf, requireLayout, requireNoFault } from '../../domain/source-file.ts';
import type {
  BatchClaim,
  ClaimedFile,
  FileCounts,
  FileOutcome,
  FileStore,
  Load,
  LoadStage,
  StagedCounts,
  WholeFile,
} from '../../ports/load-stage.ts';
import type { ObjectStore, SourceStorage } from '../../ports/object-store.ts';
import type { Log, Trace } from '../../ports/observability.ts';

type BatchDeps = StageBatchDeps & { readonly files: FileStore };
type LoadBatchDeps = BatchDeps & { readonly trace: Trace };

/**
 * Loads a batch of files up to the point of no return. Stages the rows, counts them, and decides the outcome of each
 * file. A file is loaded completely or not at all, and an invalid file does not affect other files. The lane then
 * publishes the staged files (see lane/run-lane.ts).
 *
 * Each attempt has its own load ID and first removes the data that the previous attempt left. If a worker that was
 * presumed dead resumes its attempt, the attempt cannot commit, because another attempt has claimed the batch. Its load
 * is never published.
 */
export async function loadBatch(deps: LoadBatchDeps, batchId: BatchId, signal: AbortSignal): Promise<void> {
  const claim = await deps.files.claim(batchId);
  if (!claim) return;
  const { partnerId, jobId, loadId } = claim.load;
  const ids = { partnerId, jobId, batchId, loadId };
  const isDue = await deps.trace.span('load batch', ids, () => loadClaimed(deps, claim, signal));
  if (isDue) await loadBatch(deps, batchId, signal);
}

/** Returns true if the rest of the batch must be loaded again immediately. */
async function loadClaimed(deps: LoadBatchDeps, claim: BatchClaim, signal: AbortSignal): Promise<boolean> {
  const { batchId } = claim;
  const { loadId, jobId } = claim.load;
  if (claim.previousLoadId !== null) await deps.stage.dropLoad(claim.previousLoadId);
  const result = await stageOrDrop(deps, claim, signal);
  if (!result) {
    deps.log.info({ batchId, jobId, loadId }, 'load stopped because its claim was lost or its job was canceled');
    return false;
  }
  const { outcomes, staged } = result;
  // `commit` may take effect even if it throws. From here on, drop a staging table only if its load is certain never to
  // be published.
  const committed = await deps.files.commit(claim, outcomes, staged);
  if (!committed || staged === null) await deps.stage.dropLoad(loadId);
  const failed = outcomes.flatMap((outcome) =>
    outcome.is === 'failed' ? [{ fileId: outcome.fileId, code: outcome.failure.code }] : [],
  );
  deps.log.info({ batchId, jobId, loadId, files: claim.files.length, failed, committed }, 'batch staged');
  return committed && isReloadDue(claim, outcomes);
}

/** Returns null if staging failed because the claim was lost or the job was canceled. Such a failure is not retried. */
async function stageOrDrop(
  deps: StageBatchDeps,
  claim: BatchClaim,
  signal: AbortSignal,
): Promise<{ outcomes: FileOutcome[]; staged: ShardRows | null } | null> {
  const { loadId } = claim.load;
  try {
    const results = await stageBatch(deps, claim, signal);
    const hasStaged = results.some(({ is }) => is === 'staged');
    const counted = hasStaged ? await deps.stage.countRows(claim.load) : new Map();
    const outcomes = decideFileOutcomes(results, counted, {
      isAudience: claim.load.target.kind === 'audience',
      badRowShare: claim.badRowShare,
    });
    return { outcomes, staged: await verifyStaged(deps.stage, claim.load, outcomes, counted) };
  } catch (error) {
    await deps.stage.dropLoad(loadId);
    if (!(await deps.files.recordProgress(claim, null))) return null;
    throw error;
  }
}

/**
 * Compares the number of rows in the accepted files with the number of rows on the shards. If the numbers differ, the
 * attempt fails and the batch is loaded again. Returns null if no file was accepted.
 */
async function verifyStaged(
  stage: LoadStage,
  load: Load,
  outcomes: readonly FileOutcome[],
  counted: ReadonlyMap<number, StagedCounts>,
): Promise<ShardRows | null> {
  const fileIds = outcomes.flatMap(({ is, fileId }) => (is === 'staged' ? [fileId] : []));
  if (fileIds.length === 0) return null;
  const expected = fileIds.reduce((sum, fileId) => sum + (counted.get(fileId)?.stagedRows ?? 0), 0);
  const staged = await stage.countStaged(load, fileIds);
  const difference = stagingDifference(expected, staged);
  if (difference !== null) throw new Error(`Load ${load.loadId} is incomplete: ${difference}`);
  return staged;
}

/**
 * Ends a batch that has no attempts left, so that its job can end and the lane can continue. A staged batch is not
 * abandoned, because it cannot be claimed again.
 */
export async function abandonBatch(deps: BatchDeps, batchId: BatchId): Promise<void> {
  const claim = await deps.files.claim(batchId);
  if (!claim) return;
  if (claim.previousLoadId !== null) await deps.stage.dropLoad(claim.previousLoadId);
  const outcomes = decideAbandonedOutcomes(claim);
  await deps.files.commit(claim, outcomes, null);
  const fields = { batchId, jobId: claim.load.jobId, attempts: claim.attempt - 1, files: claim.files.length };
  if (claim.files.length > 1) deps.log.warn(fields, 'batch split; each file is retried alone');
  else deps.log.error(fields, 'batch abandoned');
}

export type StageBatchDeps = {
  readonly files: Pick<FileStore, 'recordProgress'>;
  readonly sources: SourceStorage;
  readonly stage: LoadStage;
  readonly limits: Limits;
  readonly log: Log;
};

/** Opens the listed versions of the files, checks their first bytes, and streams them into the staging table. */
export async function stageBatch(deps: StageBatchDeps, claim: BatchClaim, signal: AbortSignal): Promise<StageResult[]> {
  const shapes = claim.load.target.kind === 'audience' ? audienceShapes : marketplaceShapes;
  const [only, ...others] = claim.files;
  if (!only) return [];
  return deps.sources.withObjects(claim.source, async (objects) =>
    others.length === 0
      ? [await stageOne(deps, objects, claim, only, shapes, signal)]
      : stageMany(deps, objects, claim, shapes, signal),
  );
}

/** Streams one file of any size without decompressing it. */
async function stageOne(
  deps: StageBatchDeps,
  objects: ObjectStore,
  claim: BatchClaim,
  file: ClaimedFile,
  shapes: Shapes,
  signal: AbortSignal,
): Promise<StageResult> {
  const { fileId, object, expectGzip } = file;
  try {
    if (object.size === 0) throw failureOf(noBytes);
    // Opening the file is watched as well. Otherwise, a storage that does not respond would hold the token of a
    // canceled job for over a minute.
    const opened = await watchLoad(deps, claim, null, (stop) => objects.open(object, AbortSignal.any([signal, stop])));
    try {
      requireNoFault(faultOfCompression(expectGzip, opened.isGzip));
      requireNoFault(faultOfSize(object.size, opened.isGzip, deps.limits));
      const { body, isGzip } = opened;
      const layout = layoutOf(claim, opened.head, shapes);
      const source = { fileId, body, isGzip, layout };
      await watchLoad(deps, claim, opened.bytesRead, (stop) =>
        deps.stage.stage(claim.load, source, deps.limits.maxLineBytes, AbortSignal.any([signal, stop])),
      );
      return { is: 'staged', fileId };
    } finally {
      opened.body.destroy();
    }
  } catch (error) {
    if (error instanceof Failure && error.isFinal) return { is: 'failed', fileId, failure: error };
    throw error;
  }
}

/** Reads small files into memory and inserts them together as they arrive. */
async function stageMany(
  deps: StageBatchDeps,
  objects: ObjectStore,
  claim: BatchClaim,
  shapes: Shapes,
  signal: AbortSignal,
): Promise<StageResult[]> {
  const results: StageResult[] = [];
  await watchLoad(deps, claim, null, async (stop) => {
    const either = AbortSignal.any([signal, stop]);
    const wholeFiles = async function* (): AsyncGenerator<WholeFile> {
      for await (const read of inOrder(claim.files, (file) => readFile(objects, claim, file, shapes, either))) {
        results.push('is' in read ? read : { is: 'staged', fileId: read.fileId });
        if (!('is' in read)) yield read;
      }
    };
    await deps.stage.stageTogether(claim.load, wholeFiles(), deps.limits.maxLineBytes, either);
  });
  return results;
}

/** Number of concurrent reads. Reading a small object is mostly latency. */
const concurrentReads = 16;

/**
 * A file that decompresses to more bytes than this is loaded alone. Together with the limit above, this bounds a
 * worker's memory.
 */
const maxUnpackedBytes = 8 * 1024 * 1024;

async function readFile(
  objects: ObjectStore,
  claim: BatchClaim,
  { fileId, object, expectGzip }: ClaimedFile,
  shapes: Shapes,
  signal: AbortSignal,
): Promise<WholeFile | StageResult> {
  try {
    if (object.size === 0) throw failureOf(noBytes);
    const read = await objects.read(object, maxUnpackedBytes, signal);
    if (!read) return { is: 'alone', fileId };
    requireNoFault(faultOfCompression(expectGzip, read.isGzip));
    return { fileId, layout: layoutOf(claim, read.content, shapes), content: read.content };
  } catch (error) {
    if (error instanceof Failure && error.isFinal) return { is: 'failed', fileId, failure: error };
    throw error;
  }
}

function layoutOf({ unhyphenatedIds }: BatchClaim, head: Uint8Array, shapes: Shapes): RowLayout {
  return { ...requireLayout(head, shapes), unhyphenatedIds };
}

/** Yields the results in the order of the items. Runs several items ahead. */
async function* inOrder<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = [];
  for (const item of items) {
    const promise = run(item);
    promise.catch(() => undefined); // prevents an "unhandled rejection" before the promise is awaited below
    running.push(promise);
    const first = running.length === concurrentReads ? running.shift() : undefined;
    if (first) yield await first;
  }
  for (const promise of running) yield await promise;
}

/** The result of staging a file. `alone` means that the decompressed file is too large to be loaded with others. */
export type StageResult =
  | { readonly is: 'staged'; readonly fileId: number }
  | { readonly is: 'alone'; readonly fileId: number }
  | { readonly is: 'failed'; readonly fileId: number; readonly failure: Failure };

/**
 * Decides the outcome of each file. A staged file fails if too many of its rows were rejected. One file's failure does
 * not affect the others.
 */
export function decideFileOutcomes(
  results: readonly StageResult[],
  counted: ReadonlyMap<number, FileCounts>,
  { isAudience, badRowShare }: { readonly isAudience: boolean; readonly badRowShare: number },
): FileOutcome[] {
  return results.map((result): FileOutcome => {
    if (result.is === 'alone') return result;
    if (result.is === 'failed') return { ...result, counts: noRows };
    const { fileId } = result;
    const counts = counted.get(fileId) ?? noRows;
    const fault = faultOfRows(rowsOf(counts, isAudience), badRowShare);
    return fault ? { is: 'failed', fileId, counts, failure: failureOf(fault) } : { is: 'staged', fileId, counts };
  });
}

/**
 * Decides the outcome of each file in a batch that has no attempts left. One file may be the cause, so each file in a
 * larger batch is first retried alone.
 */
export function decideAbandonedOutcomes({ files, attempt }: Pick<BatchClaim, 'files' | 'attempt'>): FileOutcome[] {
  if (files.length > 1) return files.map(({ fileId }) => ({ is: 'alone', fileId }));
  const failure = new Failure('load_abandoned', `The file could not be loaded after ${attempt - 1} attempts.`);
  return files.map(({ fileId }) => ({ is: 'failed', fileId, counts: noRows, failure }));
}

/**
 * Whether this worker must load the batch again immediately. This is the case if the file whose ID equals the batch ID
 * must be loaded alone. That file keeps the batch's token, which this worker holds, and the queue does not accept a
 * second token for it.
 */
export function isReloadDue({ batchId }: Pick<BatchClaim, 'batchId'>, outcomes: readonly FileOutcome[]): boolean {
  return outcomes.some(({ is, fileId }) => is === 'alone' && fileId === batchId);
}

/** Short enough that canceled work stops within two seconds. */
const pollEveryMs = 500;

/** Reading the progress of a load takes about 10 ms of CPU time in ClickHouse. */
const readEngineEveryMs = 1_500;

/** Polls while `run` runs, one poll at a time. A poll that fails is logged and skipped. */
export async function pollWhile<T>(log: Log, poll: () => Promise<void>, run: () => Promise<T>): Promise<T> {
  const state: { polling: Promise<void> | null } = { polling: null };
  const timer = setInterval(() => {
    state.polling ??= poll()
      .catch((error: unknown) => log.warn({ err: error }, 'cannot poll running work'))
      .finally(() => {
        state.polling = null;
      });
  }, pollEveryMs);
  try {
    return await run();
  } finally {
    clearInterval(timer);
    await state.polling;
  }
}

/**
 * Records the progress of a running load, and stops the load when its job is canceled, when another attempt has claimed
 * it, or when it decompresses to more bytes than the limit per file. A batch of small files, and a file that is being
 * opened (`bytesRead` null), report no progress and cannot exceed the limit.
 */
async function watchLoad<T>(
  deps: StageBatchDeps,
  claim: BatchClaim,
  bytesRead: (() => number) | null,
  load: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const state: { tooLarge: Failure | null } = { tooLarge: null };
  let last = { at: Number.NEGATIVE_INFINITY, engine: { rows: 0, bytes: 0, rowsHandled: 0 } };
  const readEngine = async (): Promise<typeof last.engine> => {
    const now = performance.now();
    if (now - last.at >= readEngineEveryMs) last = { at: now, engine: await deps.stage.readSoFar(claim.load) };
    return last.engine;
  };
  const poll = async (): Promise<void> => {
    const read = bytesRead && { bytes: bytesRead(), engine: await readEngine() };
    const isOurs = await deps.files.recordProgress(claim, read && { bytes: read.bytes, rows: read.engine.rows });
    if (!isOurs) return stop.abort();
    // The byte count excludes blank lines. Each line has at least one byte, so the number of lines is a second estimate
    // of the size.
    if (read && Math.max(read.engine.bytes, read.engine.rowsHandled) > deps.limits.maxPlainFileBytes) {
      state.tooLarge = failureOf(unpackedTooLarge(deps.limits));
      stop.abort();
    }
  };
  try {
    return await pollWhile(deps.log, poll, () => load(stop.signal));
  } catch (error) {
    throw state.tooLarge ?? error;
  }
}
