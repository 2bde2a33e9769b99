import { requireSameCompression } from '../domain/compression.ts';
import { Failure } from '../domain/failure.ts';
import { sniffLayout } from '../domain/sniff-layout.ts';
import type { ClaimedFile } from '../ports/file-store.ts';
import type { WholeFile } from '../ports/load-stage.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { Shapes, StageResult } from './stage-batch.ts';

/** Read at a time: a small object is mostly waiting. */
const readsAtATime = 16;

/** A file that unpacks to more is loaded alone. Together with the above it bounds what a worker holds. */
const maxUnpackedBytes = 8 * 1024 * 1024;
const groupBytes = 32 * 1024 * 1024;

/** Files that can be pushed together, and what became of the others. */
type Group = { readonly files: WholeFile[]; readonly unread: StageResult[] };

/** Reads small files, several at a time, in groups of a bounded size. */
export async function* readSmallFiles(
  objects: ObjectStore,
  files: readonly ClaimedFile[],
  shapes: Shapes,
  signal: AbortSignal,
): AsyncGenerator<Group> {
  let group: Group = { files: [], unread: [] };
  let bytes = 0;
  for await (const result of inOrder(files, (file) => readFile(objects, file, shapes, signal))) {
    if ('is' in result) group.unread.push(result);
    else {
      group.files.push(result);
      bytes += result.content.length;
    }
    if (bytes < groupBytes) continue;
    yield group;
    group = { files: [], unread: [] };
    bytes = 0;
  }
  yield group;
}

async function readFile(
  objects: ObjectStore,
  { fileId, object, expectGzip }: ClaimedFile,
  shapes: Shapes,
  signal: AbortSignal,
): Promise<WholeFile | StageResult> {
  try {
    if (object.size === 0) throw new Failure('empty_file', 'The file has no bytes.');
    const read = await objects.read(object, maxUnpackedBytes, signal);
    if (!read) return { is: 'alone', fileId };
    requireSameCompression(expectGzip, read.isGzip);
    return { fileId, layout: sniffLayout(read.content, shapes), content: read.content };
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
