import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sourceOf, type UploadBody } from './sources.ts';

const bytes = Uint8Array.from({ length: 1000 }, (_, n) => n % 251);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-sdk-'));
  await writeFile(join(folder, 'a.bin'), bytes);
});
afterAll(() => rm(folder, { recursive: true }));

/** Yields chunks that do not align with parts. */
function pieces(): Uint8Array[] {
  return [0, 1, 301, 301, 999].map((start, index, all) => bytes.slice(start, all[index + 1] ?? 1000));
}
async function* iterated(): AsyncGenerator<Uint8Array> {
  yield* pieces();
}
const streamed = (): ReadableStream<Uint8Array> => new Blob(pieces().map((piece) => new Uint8Array(piece))).stream();

describe('an upload source', () => {
  const bodies: [string, number | null, () => UploadBody | string][] = [
    ['a path', 1000, () => join(folder, 'a.bin')],
    ['a Blob', 1000, () => new Blob([bytes])],
    ['bytes', 1000, () => bytes],
    ['a web stream', null, streamed],
    ['a Node.js stream', null, () => createReadStream(join(folder, 'a.bin'), { highWaterMark: 77 })],
    ['an async iterable', null, iterated],
  ];

  it.each(bodies)('reads %s in parts of the requested size', async (_what, size, make) => {
    const given = make();
    const source = await sourceOf(typeof given === 'string' ? given : { name: 'a.bin', body: given });
    expect(source).toMatchObject({ name: 'a.bin', size });
    const { read, close } = await source.open();
    const parts = [await read(400), await read(400), await read(400), await read(400)];
    await close();
    expect(parts.map(({ byteLength }) => byteLength)).toEqual([400, 400, 200, 0]);
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  });

  it('rejects a stream that yields text', async () => {
    const source = await sourceOf({ name: 'a', body: createReadStream(join(folder, 'a.bin'), 'utf8') });
    const { read, close } = await source.open();
    await expect(read(10)).rejects.toThrow('the stream contains values that are not bytes');
    await close();
  });

  it('releases the source if the upload ends early', async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => {
        isCancelled = true;
      },
    });
    const { read, close } = await (await sourceOf({ name: 'a', body })).open();
    await read(5);
    await close();
    expect(isCancelled).toBe(true);
  });
});
