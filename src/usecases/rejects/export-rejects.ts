import { audienceShapes, marketplaceShapes } from '@inlet/row-rule/row-rule';
import { importKeys } from '../../domain/attribute.ts';
import { Failure } from '../../domain/failure.ts';
import type { Limits } from '../../domain/limits.ts';
import {
  earlierRejects,
  exportDays,
  exportTurnMs,
  keyOfRejects,
  maxExportAttempts,
  maxExportWaitSeconds,
} from '../../domain/reject-export.ts';
import { requireLayout } from '../../domain/source-file.ts';
import type { ObjectStore, SourceStorage } from '../../ports/object-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { AttributeStore } from '../../ports/partner-store.ts';
import type {
  ClaimedExport,
  ExportOutcome,
  FileToExport,
  OpenRejects,
  RejectExportQueue,
  RejectReader,
  RejectStorage,
} from '../../ports/reject-export.ts';
import { pollWhile } from '../load/load-batch.ts';

export type ExportRejectsDeps = {
  readonly rejectQueue: RejectExportQueue;
  readonly rejectReader: RejectReader;
  readonly rejectStorage: RejectStorage;
  readonly attributes: AttributeStore;
  readonly sources: SourceStorage;
  readonly limits: Limits;
  /** Whether the error means that a dependency is unavailable. The export cannot be the cause. */
  readonly isUnavailable: (error: unknown) => boolean;
  readonly log: Log;
};

/** How often every worker checks for exports. Each worker runs one export at a time. */
export const exportRejectsEveryMs = 1_000;

/** After this time, another worker continues the export if its worker has died. */
const leaseSeconds = 10;
const retryAfterSeconds = 10;

/** Runs the exports that are due, and removes those that have expired. */
export async function exportRejects(
  deps: ExportRejectsDeps,
  signal: AbortSignal,
  turnMs = exportTurnMs,
): Promise<void> {
  while (!signal.aborted) {
    const claim = await deps.rejectQueue.claim(leaseSeconds);
    if (!claim) return;
    await runExport(deps, claim, { signal, turnMs });
  }
}

type Turn = { readonly signal: AbortSignal; readonly turnMs: number };

async function runExport(deps: ExportRejectsDeps, claim: ClaimedExport, { signal, turnMs }: Turn): Promise<void> {
  const { rejectQueue: queue, rejectReader: reader, log } = deps;
  const { exportId, partnerId, tries } = claim;
  const lost = new AbortController();
  const progress: Progress = { fileId: 0, bytesRead: () => 0 };
  const renew = async (): Promise<void> => {
    const read = progress.fileId === 0 ? null : { fileId: progress.fileId, bytes: progress.bytesRead() };
    if (!(await queue.renew(claim, leaseSeconds, read))) lost.abort();
  };
  // Done while the claim is held, because the next worker creates tables with the same prefix. A worker that lost its
  // claim must not drop the tables of the worker that has it now.
  const drop = (): Promise<void> => (lost.signal.aborted ? reader.dropAttempt(claim) : reader.drop(exportId));
  try {
    const isEnded = await pollWhile(log, renew, async () => {
      const either = AbortSignal.any([signal, lost.signal]);
      if (claim.isExpired) await removeEarlier(deps, claim, either);
      const isComplete = claim.isExpired || (await exportFiles(deps, claim, progress, { signal: either, turnMs }));
      await drop();
      if (claim.isExpired) await queue.remove(claim);
      else if (isComplete) {
        await queue.finish(claim, null, exportDays);
        log.info({ exportId, partnerId, jobId: claim.source.jobId }, 'rejected rows exported');
      }
      return isComplete;
    });
    if (!isEnded) await queue.endTurn(claim);
  } catch (error) {
    await drop().catch((cause: unknown) => log.warn({ exportId, err: cause }, 'cannot drop the tables of an export'));
    if (lost.signal.aborted) return;
    if (signal.aborted) return queue.postpone(claim, 0, { counts: false });
    const failure = error instanceof Failure && error.isFinal ? error : null;
    log[failure ? 'info' : 'warn']({ exportId, partnerId, tries, err: error }, 'export of rejected rows failed');
    // The removal of an expired export is tried until it succeeds. The export has ended and can no longer fail.
    if (claim.isExpired) return queue.postpone(claim, retryAfterSeconds, { counts: true });
    const counts = claim.openSeconds >= maxExportWaitSeconds || !deps.isUnavailable(error);
    if (failure) await queue.finish(claim, failure, exportDays);
    else if (!counts || tries < maxExportAttempts) await queue.postpone(claim, retryAfterSeconds, { counts });
    else await queue.finish(claim, abandoned(tries), exportDays);
  }
}

function abandoned(attempts: number): Failure {
  return new Failure('load_abandoned', `The rejected rows could not be exported after ${attempts} attempts.`);
}

type Progress = { fileId: number; bytesRead: () => number };

/** Returns false if the turn ended before all files were exported. */
async function exportFiles(
  deps: ExportRejectsDeps,
  claim: ClaimedExport,
  progress: Progress,
  { signal, turnMs }: Turn,
): Promise<boolean> {
  const endsAt = performance.now() + turnMs;
  if (claim.isNew) await removeEarlier(deps, claim, signal);
  const files = await deps.rejectQueue.start(claim);
  if (files.length === 0) return true;
  const { keyType, partnerId } = claim;
  const attributes = keyType === null ? null : await deps.attributes.list(partnerId, { retired: true });
  const keys = keyType === null || attributes === null ? null : importKeys(attributes, keyType);
  const rejects = await deps.rejectReader.open(claim, keys ? 'attributes' : 'audience', keys);
  return deps.sources.withObjects(claim.source, async (objects) => {
    for (const [index, file] of files.entries()) {
      signal.throwIfAborted();
      if (index > 0 && performance.now() >= endsAt && (await deps.rejectQueue.isOtherDue(claim))) return false;
      const outcome = await exportFile(deps, { claim, objects, rejects, progress, signal }, file);
      if (!(await deps.rejectQueue.commitFile(claim, file, outcome))) return true;
    }
    return true;
  });
}

/** Removes the objects of earlier attempts. The partner may have stored other objects in the folder. */
async function removeEarlier(
  { rejectQueue, rejectStorage }: ExportRejectsDeps,
  claim: ClaimedExport,
  signal: AbortSignal,
): Promise<void> {
  const files = await rejectQueue.listFiles(claim);
  if (files.length === 0) return;
  const named = files.map(({ fileId, path }) => ({ fileId, path: nameOf(claim, path) }));
  await rejectStorage.remove(claim.folder, earlierRejects(claim.folder, claim.attempt, named), signal);
}

type Run = {
  readonly claim: ClaimedExport;
  readonly objects: ObjectStore;
  readonly rejects: OpenRejects;
  readonly progress: Progress;
  readonly signal: AbortSignal;
};

/** A file that was changed or deleted since the import fails, and the others are still exported. */
async function exportFile(
  { limits, rejectStorage }: ExportRejectsDeps,
  { claim, objects, rejects, progress, signal }: Run,
  { fileId, path, object }: FileToExport,
): Promise<ExportOutcome> {
  try {
    const opened = await objects.open(object, signal);
    try {
      Object.assign(progress, { fileId, bytesRead: opened.bytesRead });
      const { body, isGzip, head } = opened;
      const shapes = claim.keyType === null ? audienceShapes : marketplaceShapes;
      const layout = { ...requireLayout(head, shapes), unhyphenatedIds: claim.unhyphenatedIds };
      const rows = await rejects.read({ fileId, body, isGzip, layout }, limits.maxLineBytes, signal);
      const key = keyOfRejects(claim.folder, claim.attempt, { path: nameOf(claim, path), fileId });
      const bytes = await rejectStorage.write(key, await rejects.toCsv({ fileId, path }, signal), signal);
      return { is: 'done', key, bytes, rows };
    } finally {
      opened.body.destroy();
      await rejects.forget(fileId);
    }
  } catch (error) {
    if (error instanceof Failure && error.isFinal) return { is: 'failed', failure: error };
    throw error;
  }
}

/** The path of an audience file starts with the partner's prefix, and each such file has its own folder. */
function nameOf({ keyType }: ClaimedExport, path: string): string {
  return keyType === null ? path.slice(path.lastIndexOf('/') + 1) : path;
}
