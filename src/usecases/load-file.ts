import { requireSameCompression } from '../domain/compression.ts';
import { Failure } from '../domain/failure.ts';
import { failureOfRows } from '../domain/file-outcome.ts';
import type { Limits } from '../domain/limits.ts';
import { sniffLayout } from '../domain/row-layout.ts';
import type { FileClaim, FileStore } from '../ports/file-store.ts';
import type { Log } from '../ports/log.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { rejectedRows, type LoadCounts, type Warehouse } from '../ports/warehouse.ts';

export type LoadFileDeps = {
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly warehouse: Warehouse;
  readonly limits: Limits;
  readonly log: Log;
};

const nothing: LoadCounts = { accepted: 0, rejects: [] };

/**
 * Loads one file, whole or not at all: stage, count, publish, commit, drop the stage.
 *
 * Every attempt has a load id of its own and first removes what the attempt before left. An attempt that was believed
 * dead and wakes up finds its stage gone, so it can publish nothing; and it cannot commit, because the attempt is no
 * longer its own.
 */
export async function loadFile(deps: LoadFileDeps, fileId: number, signal: AbortSignal): Promise<void> {
  const claim = await deps.files.claim(fileId);
  if (!claim) return;
  if (claim.previousLoadId !== null) await deps.warehouse.dropLoad(claim.previousLoadId);
  const { loadId } = claim.load;
  const log = { fileId, jobId: claim.load.jobId, loadId, attempt: claim.attempt };
  try {
    const outcome = await stageAndJudge(deps, claim, signal);
    if (outcome.failure) {
      await deps.files.commitFailed(claim, outcome.failure, outcome.counts);
      deps.log.info({ ...log, code: outcome.failure.code }, 'file failed');
    } else if (await deps.files.isStillMine(claim)) {
      await deps.warehouse.publish(claim.load);
      const committed = await deps.files.commitLoaded(claim, outcome.counts);
      deps.log.info({ ...log, accepted: outcome.counts.accepted, committed }, 'file loaded');
    } else {
      deps.log.warn(log, 'another attempt took the file over');
    }
  } finally {
    await deps.warehouse.dropLoad(loadId);
  }
}

type Outcome = { readonly failure: Failure | null; readonly counts: LoadCounts };

async function stageAndJudge(deps: LoadFileDeps, claim: FileClaim, signal: AbortSignal): Promise<Outcome> {
  try {
    await stage(deps, claim, signal);
  } catch (error) {
    if (error instanceof Failure && error.isFinal) return { failure: error, counts: nothing };
    throw error;
  }
  const counts = await deps.warehouse.countRows(claim.load);
  return { failure: failureOfRows({ accepted: counts.accepted, rejected: rejectedRows(counts) }), counts };
}

async function stage(deps: LoadFileDeps, claim: FileClaim, signal: AbortSignal): Promise<void> {
  const { object, expectGzip } = claim;
  const limit = expectGzip ? deps.limits.maxGzipFileBytes : deps.limits.maxPlainFileBytes;
  if (object.size > limit)
    throw new Failure('file_too_large', `The file has ${object.size} bytes; ${limit} are allowed.`);
  if (object.size === 0) throw new Failure('empty_file', 'The file has no bytes.');
  const opened = await deps.objects.open(object, signal);
  try {
    requireSameCompression(expectGzip, opened.isGzip);
    const layout = sniffLayout(opened.head);
    const source = { body: opened.body, isGzip: opened.isGzip, layout, maxLineBytes: deps.limits.maxLineBytes };
    await deps.warehouse.stage(claim.load, source, signal);
  } finally {
    opened.body.destroy();
  }
}
