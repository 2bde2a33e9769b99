import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directorySpool } from './archive-spool.ts';

const maxBytes = 100;
const archive = 'PK\u0003\u0004archive';

describe('the local folder for archives', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-spool-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const save = (name: string | null, ...chunks: string[]) =>
    directorySpool(folder, maxBytes).save(name, Readable.from(chunks.map((chunk) => Buffer.from(chunk))));

  it('keeps a complete archive under its name', async () => {
    const saved = await save('20260312_4821_DROP.zip', 'P', archive.slice(1));
    expect(saved).toMatchObject({ name: '20260312_4821_DROP.zip', bytes: 11 });
    expect(await directorySpool(folder).find()).toEqual(saved);
  });

  it.each([null, '', '../20260312_4821_DROP.zip', 'DROP.zip'])(
    'keeps an archive with the unexpected name %j under another name',
    async (name) => {
      const saved = await save(name, archive);
      expect(saved.name).toMatch(/^[0-9a-f]{16}\.zip$/);
      expect(readdirSync(folder)).toEqual([saved.name]);
      expect(readFileSync(saved.path, 'utf8')).toBe(archive);
    },
  );

  it('keeps the last response that is not an archive', async () => {
    for (const page of ['<html>1', '<html>2']) await expect(save(null, page)).rejects.toThrow('not-an-archive');
    expect(readdirSync(folder)).toEqual(['not-an-archive']);
    expect(readFileSync(join(folder, 'not-an-archive'), 'utf8')).toBe('<html>2');
    expect(await directorySpool(folder).find()).toBeNull();
  });

  it('reports that it does not store an archive that is too large', async () => {
    await expect(save(null, archive, 'x'.repeat(maxBytes))).rejects.toThrow(
      'is larger than 100 bytes. It is not stored.',
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps no part of a response that breaks off', async () => {
    const body = async function* (): AsyncGenerator<Buffer> {
      yield await Promise.resolve(Buffer.from(archive));
      throw new Error('broken');
    };
    await expect(directorySpool(folder).save(null, Readable.from(body()))).rejects.toThrow('broken');
    expect(readdirSync(folder)).toEqual([]);
  });
});
