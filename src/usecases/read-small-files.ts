import { faultOfCompression, noBytes } from '@inlet/row-rule/file-rule';
import type { Shapes } from '@inlet/row-rule/sniff-layout';
import { Failure } from '../domain/failure.ts';
import { failureOf, requireLayout, requireNoFault } from '../domain/file-failure.ts';
import type { ClaimedFile } from '../ports/file-store.ts';
import type { WholeFile } from '../ports/load-stage.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { StageResult } from './stage-batch.ts';

/** Read at a time: a small object is mostly waiting. */
const readsAtATime = 16;

/** A file that unpacks to more is loaded alone. Together with the above it bounds what a worker holds. */
const maxUnpackedBytes = 8 * 1024 * 1024;

/** Reads small files in their order, several at a time: each whole, or what became of it. */
export function readSmallFiles(
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
