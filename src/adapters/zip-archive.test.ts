import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { zipOf } from '../../test/drop/zip.ts';
import { type ZipEntry, openZipEntry, readZipEntries } from './zip-archive.ts';

describe('a ZIP archive', () => {
  let folder: string;
  let path: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-zip-'));
    path = join(folder, 'archive.zip');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const contentOf = async (entry: ZipEntry): Promise<string> =>
    Buffer.concat(await (await openZipEntry(path, entry)).toArray()).toString();
  const readAll = async (archive: Buffer): Promise<Map<string, string>> => {
    writeFileSync(path, archive);
    const files = new Map<string, string>();
    for (const entry of await readZipEntries(path)) files.set(entry.name, await contentOf(entry));
    return files;
  };

  it('returns every file as it was stored', async () => {
    const names = fc.stringMatching(/^[A-Za-z0-9_.]{1,20}$/);
    const archives = fc.uniqueArray(fc.tuple(names, fc.string()), { selector: ([name]) => name, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(archives, async (given) => {
        const files = new Map(given);
        expect(await readAll(zipOf(files))).toEqual(files);
      }),
      { numRuns: 50 },
    );
  });

  it('is not read if any byte of a file has changed', async () => {
    const text = 'ID,Hash\nA7kP2xQ9Lm4R,250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudI=\n';
    const archive = zipOf(new Map([['20260312_4821_MAID.csv', text]]));
    const others: string[][] = [];
    for (let at = 0; at < archive.length; at += 1) {
      const damaged = Buffer.from(archive);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      // Fields that readers ignore, such as versions and times, can change without effect.
      const files = await readAll(damaged).catch(() => null);
      if (files && [...files.values()].join() !== text) others.push([...files.values()]);
    }
    expect(others).toEqual([]);
  });

  it.each([0, 1, 21, 22, 100])('is not read if it ends %i bytes early or is empty', async (missing) => {
    const archive = zipOf(new Map([['a.csv', 'ID,Hash\n'.repeat(20)]]));
    const shortened = missing === 0 ? Buffer.alloc(0) : archive.subarray(0, -missing);
    await expect(readAll(shortened)).rejects.toThrow(/ZIP|damaged/);
  });

  it('is not read if a file is larger than recorded', async () => {
    const archive = zipOf(new Map([['a.csv', 'ID,Hash\n'.repeat(20)]]));
    const size = archive.indexOf('PK\x01\x02') + 24;
    archive.writeUInt32LE(10, size);
    await expect(readAll(archive)).rejects.toThrow('larger than recorded');
  });
});
