import { requireSameCompression } from '../domain/compression.ts';
import { Failure } from '../domain/failure.ts';
import type { Limits } from '../domain/limits.ts';
import { sniffLayout } from '../domain/sniff-layout.ts';
import type { FileClaim, FileStore } from '../ports/file-store.ts';
import type { Log } from '../ports/log.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { SourceStorage } from '../ports/source-storage.ts';
import type { Warehouse } from '../ports/warehouse.ts';
import { watchLoad } from './watch-load.ts';

export type StageFileDeps = {
  readonly files: FileStore;
  readonly sources: SourceStorage;
  readonly warehouse: Warehouse;
  readonly limits: Limits;
  readonly log: Log;
};

/** Opens the file as it was listed, looks at its first bytes and pushes it into the stage. */
export async function stageFile(deps: StageFileDeps, claim: FileClaim, signal: AbortSignal): Promise<void> {
  const { object, expectGzip } = claim;
  const limit = expectGzip ? deps.limits.maxGzipFileBytes : deps.limits.maxPlainFileBytes;
  if (object.size > limit) {
    throw new Failure('file_too_large', `The file has ${object.size} bytes; ${limit} are allowed.`);
  }
  if (object.size === 0) throw new Failure('empty_file', 'The file has no bytes.');
  await deps.sources.withObjects(claim.source, (objects) => openAndStage(deps, objects, claim, signal));
}

async function openAndStage(
  deps: StageFileDeps,
  objects: ObjectStore,
  claim: FileClaim,
  signal: AbortSignal,
): Promise<void> {
  const opened = await objects.open(claim.object, signal);
  try {
    requireSameCompression(claim.expectGzip, opened.isGzip);
    const source = { ...opened, layout: sniffLayout(opened.head), maxLineBytes: deps.limits.maxLineBytes };
    await watchLoad(deps, claim, opened.bytesRead, (stop) =>
      deps.warehouse.stage(claim.load, source, AbortSignal.any([signal, stop])),
    );
  } finally {
    opened.body.destroy();
  }
}
