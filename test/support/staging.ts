import { audienceShapes, marketplaceShapes } from '@inlet/row-rule/row-rule';
import { Readable } from 'node:stream';
import { requireLayout } from '../../src/domain/source-file.ts';
import { versionsOfJob } from '../../src/domain/job.ts';
import { initialSuppressionList } from '../../src/domain/suppression.ts';
import type { Load, StreamedFile, WholeFile } from '../../src/ports/load-stage.ts';

// Builds from text the input that the worker sends to ClickHouse.

export function attributeLoad(
  loadId: number,
  job: { id: number; partnerId: number; seq?: number; isReplacing?: boolean },
): Load {
  const versions = versionsOfJob(job.seq ?? job.id);
  return {
    loadId,
    jobId: job.id,
    partnerId: job.partnerId,
    bytes: 1000,
    suppression: initialSuppressionList,
    target: { kind: 'attributes', versions, isReplacing: job.isReplacing ?? false },
  };
}

export function memberLoad(
  loadId: number,
  of: { jobId: number; partnerId: number; audienceId: number; generation: number },
): Load {
  const { jobId, partnerId, audienceId, generation } = of;
  return {
    loadId,
    jobId,
    partnerId,
    bytes: 1000,
    suppression: initialSuppressionList,
    target: { kind: 'audience', audienceId, generation },
  };
}

export function streamedFile(load: Load, fileId: number, content: string | Buffer): StreamedFile {
  const bytes = Buffer.from(content);
  return {
    fileId,
    body: Readable.from([bytes]),
    isGzip: false,
    layout: requireLayout(bytes, shapesOf(load)),
  };
}

export function wholeFile(load: Load, fileId: number, text: string): WholeFile {
  const content = Buffer.from(text);
  return { fileId, content, layout: requireLayout(content, shapesOf(load)) };
}

function shapesOf({ target }: Load): typeof audienceShapes {
  return target.kind === 'audience' ? audienceShapes : marketplaceShapes;
}

/** Yields the files of a batch one after another. */
export async function* asTheyCome(files: readonly WholeFile[]): AsyncGenerator<WholeFile> {
  for (const file of files) yield await Promise.resolve(file);
}
