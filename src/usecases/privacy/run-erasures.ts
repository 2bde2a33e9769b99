import {
  type ErasureProof,
  type ErasureWait,
  type SignedProof,
  addErased,
  erasedByPartner,
  failureOfSource,
  isListLost,
  listsToDrop,
  proofOf,
  requireListSize,
  stepAfterCount,
  stepAfterLoads,
  waitSeconds,
} from '../../domain/erasure.ts';
import { Failure } from '../../domain/failure.ts';
import { pathType } from '../../domain/import-log.ts';
import type { DeviceIndex, IndexStore } from '../../ports/device-index.ts';
import type {
  ClaimedBatch,
  ErasureEngine,
  ErasureIndexStore,
  ErasureQueue,
  IdList,
  ListedErasure,
  ProofSigner,
} from '../../ports/erasure.ts';
import type { SourceStorage } from '../../ports/object-store.ts';
import type { Log } from '../../ports/observability.ts';
import { takeLease, whileFoldsWait } from '../index/fold-index.ts';
import { pollWhile } from '../load/load-batch.ts';

export type ErasureDeps = {
  readonly erasureQueue: ErasureQueue;
  readonly erasureEngine: ErasureEngine;
  readonly erasureIndex: ErasureIndexStore;
  readonly index: Pick<DeviceIndex, 'takeLease'>;
  readonly indexStore: Pick<IndexStore, 'runAlone' | 'nextFoldId'>;
  readonly proofSigner: ProofSigner;
  readonly sources: SourceStorage;
  readonly log: Log;
};

/** How often every worker checks for erasures. One worker at a time runs a batch. */
export const runErasuresEveryMs = 1_000;

/** After this time, another worker continues the batch if its worker has died. */
const leaseSeconds = 15;
const maxIndexWaitMs = 30_000;

/** The step cannot continue yet. The batch is released and continues later. */
class Waits extends Error {
  readonly reason: ErasureWait;

  constructor(reason: ErasureWait) {
    super(`waiting for ${reason}`);
    this.reason = reason;
  }
}

/** Runs the open batch, step by step. If the worker is killed, another worker continues the batch at its last step. */
export async function runErasures(deps: ErasureDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const batch = await deps.erasureQueue.claim(leaseSeconds);
    if (!batch || !(await runBatch(deps, batch, signal))) return;
  }
}

/** Returns false if the batch has to stop. While it waits, another one can continue. */
async function runBatch(deps: ErasureDeps, claimed: ClaimedBatch, signal: AbortSignal): Promise<boolean> {
  const { erasureQueue: queue, log } = deps;
  const lost = new AbortController();
  const stop = AbortSignal.any([signal, lost.signal]);
  let batch = claimed;
  try {
    await pollWhile(
      log,
      async () => {
        if (!(await queue.renew(claimed, leaseSeconds))) lost.abort();
      },
      async () => {
        while (batch.step !== 'done') {
          stop.throwIfAborted();
          batch = await steps[batch.step](deps, batch, stop);
          log.info({ batchId: batch.id, step: batch.step, rounds: batch.rounds }, 'erasure');
        }
      },
    );
    return true;
  } catch (error) {
    if (lost.signal.aborted) return false;
    if (signal.aborted) await queue.postpone(batch, 0, null);
    else if (error instanceof Waits) await queue.postpone(batch, waitSeconds[error.reason], error.reason);
    else {
      log.warn({ batchId: batch.id, step: batch.step, err: error }, 'an erasure failed and is tried again');
      await queue.postpone(batch, waitSeconds.servers, 'servers');
    }
    return !signal.aborted;
  }
}

type Step = (deps: ErasureDeps, batch: ClaimedBatch, signal: AbortSignal) => Promise<ClaimedBatch>;

const steps: Readonly<Record<Exclude<ClaimedBatch['step'], 'done'>, Step>> = {
  receive: (_deps, { id }) => Promise.reject(new Error(`batch ${id} has no list yet`)),

  list: async (deps, batch, signal) => {
    const { erasureQueue: queue } = deps;
    const requests = await queue.listRequests(batch);
    if (requests.length === 0) {
      await dropLists(deps, batch.listId);
      await queue.finish(batch, new Date(), []);
      return { ...batch, step: 'done' };
    }
    // An operator's command has already written its list, and that list cannot be written again.
    if (requests.every(({ source }) => source.kind === 'received')) return queue.advance(batch, { step: 'wait' });
    const begun = await queue.advance(batch, { step: 'list', isNewList: true });
    await dropLists(deps, null);
    let hasFailed = false;
    for (const request of requests) {
      signal.throwIfAborted();
      hasFailed = !(await writeList(deps, begun, request, signal)) || hasFailed;
    }
    // The list may contain devices of a request that failed, so it is written again without them.
    return queue.advance(begun, { step: hasFailed ? 'list' : 'wait' });
  },

  // Loads that started before the batch could otherwise publish an erased device afterward.
  wait: (deps, batch) => waitForLoads(deps, batch, 'wait'),

  count: async (deps, batch) => {
    const { erasureQueue: queue, erasureEngine: engine } = deps;
    const again = await replaceLostList(deps, batch);
    if (again) return again;
    await engine.findRejects(batch, batch.lastLoadId, (fileIds) => queue.ownersOf(fileIds));
    const found = await engine.countRows(batch);
    await queue.noteErased(erasedByPartner(found));
    return queue.advance(batch, { step: 'erase', rounds: batch.rounds + 1, erased: addErased(batch.erased, found) });
  },

  erase: async ({ erasureQueue: queue, erasureEngine: engine }, batch, signal) => {
    await engine.eraseRows(batch, signal);
    // Read after the rows were removed: no later load can read them.
    return queue.advance(batch, { step: 'settle', includesNewLoads: true });
  },

  // A replacing load copies the rows that it found when it started, every load adds its known devices last, and a
  // rebuild copies devices into the known devices. Each of these can write an erased device again.
  settle: async (deps, batch, signal) => {
    await deps.erasureEngine.untilWritten(signal);
    return waitForLoads(deps, batch, 'settle');
  },

  index: async (deps, batch, signal) => {
    const { erasureQueue: queue, erasureEngine: engine, indexStore } = deps;
    // Recorded first, so that a repeated step also covers what an interrupted one wrote.
    const firstFoldId = batch.firstFoldId ?? (await indexStore.nextFoldId());
    const begun = await queue.advance(batch, { step: 'index', firstFoldId });
    // This reads all attributes, and folds do not need to wait for it.
    await engine.eraseKnownDevices(begun, signal);
    const erase = async (): Promise<void> => {
      const leaseId = await takeLease(deps);
      const everywhere = { leaseId, foldId: await indexStore.nextFoldId() };
      const ofPartners = { leaseId, foldId: await indexStore.nextFoldId() };
      await engine.eraseFromIndex(begun, { everywhere, ofPartners }, signal);
      await deps.erasureIndex.recordErased(await engine.listFolded(firstFoldId), await engine.findImportedAgain(begun));
    };
    if (!(await whileFoldsWait(deps, erase, { maxMs: maxIndexWaitMs, signal }))) throw new Waits('index');
    return queue.advance(begun, { step: 'verify' });
  },

  verify: async (deps, batch) => {
    const { erasureQueue: queue, erasureEngine: engine } = deps;
    const again = await replaceLostList(deps, batch);
    if (again) return again;
    // A stage is dropped after its rows are published, so the stages are counted first.
    if ((await engine.countStaged(batch, batch.lastLoadId)) > 0) throw new Waits('loads');
    const remaining = await engine.countRemaining(batch);
    // Jobs may have ended while their rows were being erased.
    await queue.noteErased(erasedByPartner(batch.erased).map(({ partnerId }) => ({ partnerId, rows: 0 })));
    const step = stepAfterCount(remaining);
    return queue.advance(batch, { step, remaining, isErased: step === 'clean' });
  },

  clean: async (deps, batch) => {
    const { erasureQueue: queue, erasureEngine: engine } = deps;
    const { erasedAt } = batch;
    if (!erasedAt) throw new Error(`batch ${batch.id} has not been verified`);
    await dropLists(deps, batch.listId);
    await engine.removeReplacedParts();
    if ((await engine.countDetachedParts()) > 0) throw new Waits('detached_parts');
    if ((await engine.countReplacedParts(erasedAt)) > 0) throw new Waits('replaced_parts');
    const finishedAt = new Date();
    const requests = await queue.listRequests(batch);
    await queue.finish(
      batch,
      finishedAt,
      requests.map((request) =>
        signedProof(deps.proofSigner, { ...batch, batchId: batch.id, erasedAt, finishedAt }, request),
      ),
    );
    return { ...batch, step: 'done' };
  },
};

/** Drops the lists that no open batch needs. `ended` is the list of a batch that ends. */
async function dropLists(
  { erasureQueue, erasureEngine }: Pick<ErasureDeps, 'erasureQueue' | 'erasureEngine'>,
  ended: number | null,
): Promise<void> {
  const stored = await erasureEngine.findLists();
  for (const list of listsToDrop(stored, await erasureQueue.findOpenLists(), ended)) await erasureEngine.dropList(list);
}

async function waitForLoads(
  { erasureQueue: queue, erasureEngine: engine }: ErasureDeps,
  batch: ClaimedBatch,
  step: 'wait' | 'settle',
): Promise<ClaimedBatch> {
  // Open loads are counted first, because a load can end between the two counts, but cannot open again.
  const open = await queue.countOpenLoads(batch);
  const next = stepAfterLoads(step, { open, staged: await engine.countStaged(batch, batch.lastLoadId) });
  if (next === null) throw new Waits('loads');
  return queue.advance(batch, { step: next });
}

function signedProof(
  signer: ProofSigner,
  batch: Parameters<typeof proofOf>[0],
  request: ListedErasure,
): { readonly id: number; readonly proof: SignedProof; readonly csv: string } {
  const { csv, proof }: { csv: string; proof: ErasureProof } = proofOf(batch, request, (text) => signer.digest(text));
  return { id: request.id, csv, proof: { ...proof, signature: signer.sign(proof) } };
}

/** Returns the batch at the step `list` if the list has to be written again, and otherwise null. */
async function replaceLostList(
  { erasureQueue: queue, erasureEngine: engine, log }: ErasureDeps,
  batch: ClaimedBatch,
): Promise<ClaimedBatch | null> {
  const requests = await queue.listRequests(batch);
  if (requests.length === 0 || !isListLost(await engine.countListed(batch.listId))) return null;
  log.error({ batchId: batch.id }, 'the list of an erasure is missing; it is written again');
  for (const { id, source } of requests) {
    const failure = failureOfSource(source, true);
    if (failure) await queue.fail(batch, id, failure);
  }
  return queue.advance(batch, { step: 'list' });
}

/**
 * Returns false if a file cannot be read. Only its own request then fails, and the other requests in the batch
 * continue.
 */
async function writeList(
  deps: ErasureDeps,
  batch: ClaimedBatch,
  request: ListedErasure,
  signal: AbortSignal,
): Promise<boolean> {
  const { erasureQueue: queue, erasureEngine: engine } = deps;
  const { id, source } = request;
  const failure = failureOfSource(source, false);
  if (failure) {
    await queue.fail(batch, id, failure);
    return false;
  }
  if (source.kind === 'ids') {
    await engine.addIds(batch.listId, request.partnerId, source.ids);
    const list = { ids: source.ids.length, invalidLines: 0, salt: request.idsSalt, digest: request.idsDigest };
    await queue.recordList(batch, id, list);
    return true;
  }
  if (source.kind !== 'file') return true;
  try {
    await queue.recordList(batch, id, await readFile(deps, batch, { ...request, key: source.key }, signal));
    return true;
  } catch (error) {
    if (!(error instanceof Failure && error.isFinal)) throw error;
    await queue.fail(batch, id, error);
    return false;
  }
}

async function readFile(
  { sources, erasureEngine }: ErasureDeps,
  { listId }: ClaimedBatch,
  { partnerId, key }: ListedErasure & { readonly key: string },
  signal: AbortSignal,
): Promise<IdList> {
  const source = { jobId: 0, partnerId: partnerId ?? 0, pathType: pathType.sharedBucket, filePath: key };
  return sources.withObjects(source, async (objects) => {
    const object = await objects.find(key);
    if (!object) throw new Failure('no_files', 'The file of device IDs does not exist.');
    const opened = await objects.open(object, signal);
    try {
      requireListSize(object.size);
      return await erasureEngine.addFile(listId, partnerId, opened, signal);
    } finally {
      opened.body.destroy();
    }
  });
}
