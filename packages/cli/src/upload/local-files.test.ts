import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localFiles } from './local-files.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlet-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const isRoot = process.getuid?.() === 0;
const namesIn = async (...paths: string[]): Promise<{ names: string[]; notes: string[] }> => {
  const notes: string[] = [];
  const found = await localFiles(paths, (text) => notes.push(text));
  return { names: found.map(({ name }) => name), notes };
};

describe('localFiles', () => {
  it('lists files and folders in order and skips hidden files and link cycles', async () => {
    mkdirSync(join(folder, 'b/.git'), { recursive: true });
    for (const name of ['b/2.csv', 'b/.hidden', 'b/.git/x', 'a.csv']) writeFileSync(join(folder, name), 'x');
    symlinkSync(join(folder, 'a.csv'), join(folder, 'b/1-linked.csv'));
    symlinkSync(folder, join(folder, 'b/round'));
    const names = ['a.csv', 'b/1-linked.csv', 'b/2.csv', '2.csv'];
    expect(await namesIn(folder, join(folder, 'b/2.csv'))).toEqual({ names, notes: [] });
  });

  it('skips broken links and prints a note', async () => {
    writeFileSync(join(folder, 'a.csv'), 'x');
    symlinkSync(join(folder, 'gone.csv'), join(folder, 'dangling.csv'));
    symlinkSync(join(folder, 'itself.csv'), join(folder, 'itself.csv'));
    expect(await namesIn(folder)).toEqual({
      names: ['a.csv'],
      notes: ['dangling.csv', 'itself.csv'].map((name) => `Skipped ${join(folder, name)}: broken link.`),
    });
  });

  it('rejects missing paths, empty folders, and special files', async () => {
    await expect(namesIn(join(folder, 'none'))).rejects.toThrow(/wrong_use: The file or folder .* does not exist/);
    await expect(namesIn(folder)).rejects.toThrow(/The folder contains no files/);
    // A shell passes a pipe for <(zcat a.gz).
    await expect(namesIn('/dev/null')).rejects.toThrow(/wrong_use: \/dev\/null is neither a file nor a folder/);
    symlinkSync(join(folder, 'itself'), join(folder, 'itself'));
    await expect(namesIn(join(folder, 'itself'))).rejects.toThrow(
      /unreadable_file: .* too many symbolic links \(ELOOP\)/,
    );
  });

  it.skipIf(isRoot)('reports a folder that cannot be listed', async () => {
    mkdirSync(join(folder, 'closed'));
    chmodSync(join(folder, 'closed'), 0);
    await expect(namesIn(folder)).rejects.toThrow(/unreadable_file: .*closed cannot be read: permission denied/);
  });
});
