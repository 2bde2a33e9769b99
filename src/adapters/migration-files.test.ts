import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pendingMigrations, readMigrationFiles } from './migration-files.ts';

describe('readMigrationFiles', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-migrations-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const write = (...names: readonly string[]): void => {
    for (const name of names) writeFileSync(join(folder, name), `-- ${name}`);
  };

  it('returns the files in numeric order with their text and checksum', async () => {
    write('0002-more.sql', '0001-first.sql');
    const files = await readMigrationFiles(folder);
    expect(files.map(({ name, text }) => [name, text])).toEqual([
      ['0001-first.sql', '-- 0001-first.sql'],
      ['0002-more.sql', '-- 0002-more.sql'],
    ]);
    for (const { checksum } of files) expect(checksum).toMatch(/^[0-9a-f]{64}$/);
    expect(files[0]?.checksum).not.toBe(files[1]?.checksum);
  });

  it('ignores the schema dump and other files', async () => {
    write('0001-first.sql', 'schema.sql', 'README.md', '0002-more.sql.bak');
    expect((await readMigrationFiles(folder)).map(({ name }) => name)).toEqual(['0001-first.sql']);
  });

  it.each([
    { mistake: 'a missing number', names: ['0001-a.sql', '0003-c.sql'], at: 'expected number 2 at 0003-c.sql' },
    { mistake: 'a duplicate number', names: ['0001-a.sql', '0001-b.sql'], at: 'expected number 2 at 0001-b.sql' },
    { mistake: 'a first number other than 1', names: ['0002-b.sql'], at: 'expected number 1 at 0002-b.sql' },
  ])('rejects $mistake', async ({ names, at }) => {
    write(...names);
    await expect(readMigrationFiles(folder)).rejects.toThrow(at);
  });

  it('computes a different checksum for a changed file', async () => {
    write('0001-a.sql');
    const [before] = await readMigrationFiles(folder);
    writeFileSync(join(folder, '0001-a.sql'), '-- 0001-a.sql ');
    const [after] = await readMigrationFiles(folder);
    expect(after?.checksum).not.toBe(before?.checksum);
  });
});

describe('pendingMigrations', () => {
  const files = [
    { name: '0001-a.sql', text: 'a', checksum: 'aa' },
    { name: '0002-b.sql', text: 'b', checksum: 'bb' },
  ];

  it.each([
    { done: [], pending: ['0001-a.sql', '0002-b.sql'] },
    { done: [['0001-a.sql', 'aa']] as const, pending: ['0002-b.sql'] },
    {
      done: [
        ['0001-a.sql', 'aa'],
        ['0002-b.sql', 'bb'],
      ] as const,
      pending: [],
    },
  ])('returns $pending after $done have run', ({ done, pending }) => {
    expect(pendingMigrations(files, new Map(done)).map(({ name }) => name)).toEqual(pending);
  });

  it('rejects a file that changed after it ran', () => {
    expect(() => pendingMigrations(files, new Map([['0001-a.sql', 'zz']]))).toThrow(
      '0001-a.sql was changed after it ran',
    );
  });

  it('ignores migrations from a newer release', () => {
    const done = new Map([
      ['0001-a.sql', 'aa'],
      ['0002-b.sql', 'bb'],
      ['0003-c.sql', 'cc'],
    ]);
    expect(pendingMigrations(files, done)).toEqual([]);
  });
});
