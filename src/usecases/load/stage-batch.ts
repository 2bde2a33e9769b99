import { faultOfCompression, faultOfSize, noBytes } from '@inlet/row-rule/file-rule';
import { audienceShapes, marketplaceShapes } from '@inlet/row-rule/row-layout';
import type { Shapes } from '@inlet/row-rule/sniff-layout';
import { Failure } from '../../domain/failure.ts';
import { failureOf, requireLayout, requireNoFault } from '../../domain/file-failure.ts';
import type { Limits } from '../../domain/limits.ts';
import type { BatchClaim, ClaimedFile, FileStore, LoadStage, WholeFile } from '../../ports/load-stage.ts';
import type { ObjectStore, SourceStorage } from '../../ports/object-store.ts';
import type { Log } from '../../ports/observability.ts';
import { watchLoad } from './poll-while.ts';

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

/** Read at a time: a small object is mostly waiting. */
const readsAtATime = 16;

/** A file that unpacks to more is loaded alone. Together with the above it bounds what a worker holds. */
const maxUnpackedBytes = 8 * 1024 * 1024;

/** Reads small files in their order, several at a time: each whole, or what became of it. */
function readSmallFiles(
  objects: ObjectStore,
  files: readonly ClaimedFile[],
  shapes: Shapes,
  signal: AbortSignal,
): AsyncGenerator<WholeFile | StageResult> {
  return inOrder(files, (file) => readFile(objects, file, shapes, signal));
}

async function readFile(
  objects: ObjectStore,
  { fileId, object, expectGzip }: ClaimedFile,
  shapes: Shapes,
  signal: AbortSignal,
): Promise<WholeFile | StageResult> {
  try {
    if (object.size === 0) throw failureOf(noBytes);
    const read = await objects.read(object, maxUnpackedBytes, signal);
    if (!read) return { is: 'alone', fileId };
    requireNoFault(faultOfCompression(expectGzip, read.isGzip));
    return { fileId, layout: requireLayout(read.content, shapes), content: read.content };
  } catch (error) {
    if (error instanceof Failure && error.isFinal) return { is: 'failed', fileId, failure: error };
    throw error;
  }
}

/** The results in the order of the items, with a few items under way ahead of the one that is waited for. */
async function* inOrder<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = [];
  for (const item of items) {
    const promise = run(item);
    promise.catch(() => undefined); // waited for below; until then it must not count as unhandled
    underWay.push(promise);
    const first = underWay.length === readsAtATime ? underWay.shift() : undefined;
    if (first) yield await first;
  }
  for (const promise of underWay) yield await promise;
}
