import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { localFiles } from './local-files.ts';

it('finds files by name and in folders, in order, without hidden ones and without going round in circles', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-files-'));
  mkdirSync(join(folder, 'b/.git'), { recursive: true });
  for (const name of ['b/2.csv', 'b/.hidden', 'b/.git/x', 'a.csv']) writeFileSync(join(folder, name), 'x');
  symlinkSync(join(folder, 'a.csv'), join(folder, 'b/1-linked.csv'));
  symlinkSync(folder, join(folder, 'b/round'));
  const found = await localFiles([folder, join(folder, 'b/2.csv')]);
  expect(found.map(({ name }) => name)).toEqual(['a.csv', 'b/1-linked.csv', 'b/2.csv', '2.csv']);
  await expect(localFiles([join(folder, 'none')])).rejects.toThrow(/There is no file or folder/);
  rmSync(folder, { recursive: true });
});
