import { faultOfCompression, faultOfSize, noBytes } from '@inlet/row-rule/file-rule';
import { audienceShapes, marketplaceShapes } from '@inlet/row-rule/row-layout';
import type { Shapes } from '@inlet/row-rule/sniff-layout';
import { Failure } from '../domain/failure.ts';
import { failureOf, requireLayout, requireNoFault } from '../domain/file-failure.ts';
import type { Limits } from '../domain/limits.ts';
import type { BatchClaim, ClaimedFile, FileStore } from '../ports/file-store.ts';
import type { LoadStage, WholeFile } from '../ports/load-stage.ts';
import type { Log } from '../ports/log.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { SourceStorage } from '../ports/source-storage.ts';
import { readSmallFiles } from './read-small-files.ts';
import { watchLoad } from './watch-load.ts';

export type StageBatchDeps = {
  readonly files: FileStore;
  readonly sources: SourceStorage;
  readonly stage: LoadStage;
  readonly limits: Limits;
  readonly log: Log;
};

/** Whether a file's bytes are in the stage. `alone`: it is too large, when unpacked, to be loaded with others. */
export type StageResult =
  | { readonly is: 'staged'; readonly fileId: number }
  | { readonly is: 'alone'; readonly fileId: number }
  | { readonly is: 'failed'; readonly fileId: number; readonly failure: Failure };

/** Opens the files as they were listed, looks at their first bytes and pushes them into the stage. */
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

/** A file by itself, of any size: its bytes flow through, still packed. */
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
    const opened = await objects.open(object, signal);
    try {
      requireNoFault(faultOfCompression(expectGzip, opened.isGzip));
      requireNoFault(faultOfSize(object.size, opened.isGzip, deps.limits));
      const { body, isGzip } = opened;
      const source = { fileId, body, isGzip, layout: requireLayout(opened.head, shapes) };
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

/** Small files: each read whole, and pushed together as they come. */
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
      for await (const read of readSmallFiles(objects, claim.files, shapes, either)) {
        results.push('is' in read ? read : { is: 'staged', fileId: read.fileId });
        if (!('is' in read)) yield read;
      }
    };
    await deps.stage.stageTogether(claim.load, wholeFiles(), deps.limits.maxLineBytes, either);
  });
  return results;
}
