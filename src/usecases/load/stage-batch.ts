import { faultOfCompression, faultOfSize, noBytes } from '@inlet/row-rule/file-rule';
import { audienceShapes, marketplaceShapes } from '@inlet/row-rule/row-layout';
import type { Shapes } from '@inlet/row-rule/sniff-layout';
import { Failure } from '../../domain/failure.ts';
import { failureOf, requireLayout, requireNoFault } from '../../domain/file-failure.ts';
import type { Limits } from '../../domain/limits.ts';
import type { BatchClaim, ClaimedFile, FileStore, LoadStage, WholeFile } from '../../ports/load-stage.ts';
import type { ObjectStore, SourceStorage } from '../../ports/object-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { StageResult } from './decide-outcomes.ts';
import { watchLoad } from './poll-while.ts';

export type StageBatchDeps = {
  readonly files: FileStore;
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
      for await (const read of inOrder(claim.files, (file) => readFile(objects, file, shapes, either))) {
        results.push('is' in read ? read : { is: 'staged', fileId: read.fileId });
        if (!('is' in read)) yield read;
      }
    };
    await deps.stage.stageTogether(claim.load, wholeFiles(), deps.limits.maxLineBytes, either);
  });
  return results;
}

/** Number of concurrent reads. Most of the time to read a small object is latency. */
const concurrentReads = 16;

/** A file that decompresses to more bytes is loaded alone. With the limit above, this bounds a worker's memory. */
const maxUnpackedBytes = 8 * 1024 * 1024;

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

/** Yields the results in the order of the items. Starts a few items before their turn. */
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
