import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pendingMigrations, readMigrationFiles } from './migration-files.ts';

describe('the migration files of a folder', () => {
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

  it('come in the order of their numbers, with text and checksum', async () => {
    write('0002-more.sql', '0001-first.sql');
    const files = await readMigrationFiles(folder);
    expect(files.map(({ name, text }) => [name, text])).toEqual([
      ['0001-first.sql', '-- 0001-first.sql'],
      ['0002-more.sql', '-- 0002-more.sql'],
    ]);
    for (const { checksum } of files) expect(checksum).toMatch(/^[0-9a-f]{64}$/);
    expect(files[0]?.checksum).not.toBe(files[1]?.checksum);
  });

  it('do not include the dumped schema or anything else', async () => {
    write('0001-first.sql', 'schema.sql', 'README.md', '0002-more.sql.bak');
    expect((await readMigrationFiles(folder)).map(({ name }) => name)).toEqual(['0001-first.sql']);
  });

  it.each([
    { mistake: 'a missing number', names: ['0001-a.sql', '0003-c.sql'], at: 'expected number 2 at 0003-c.sql' },
    { mistake: 'a doubled number', names: ['0001-a.sql', '0001-b.sql'], at: 'expected number 2 at 0001-b.sql' },
    { mistake: 'a late beginning', names: ['0002-b.sql'], at: 'expected number 1 at 0002-b.sql' },
  ])('are refused with $mistake', async ({ names, at }) => {
    write(...names);
    await expect(readMigrationFiles(folder)).rejects.toThrow(at);
  });

  it('have another checksum after any change', async () => {
    write('0001-a.sql');
    const [before] = await readMigrationFiles(folder);
    writeFileSync(join(folder, '0001-a.sql'), '-- 0001-a.sql ');
    const [after] = await readMigrationFiles(folder);
    expect(after?.checksum).not.toBe(before?.checksum);
  });
});

describe('what is still to be run', () => {
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
  ])('is $pending after $done', ({ done, pending }) => {
    expect(pendingMigrations(files, new Map(done)).map(({ name }) => name)).toEqual(pending);
  });

  it('is nothing at all when a file was changed after it had run', () => {
    expect(() => pendingMigrations(files, new Map([['0001-a.sql', 'zz']]))).toThrow(
      '0001-a.sql was changed after it had run',
    );
  });

  it('is what this version knows, also when a newer version has run more', () => {
    const done = new Map([
      ['0001-a.sql', 'aa'],
      ['0002-b.sql', 'bb'],
      ['0003-c.sql', 'cc'],
    ]);
    expect(pendingMigrations(files, done)).toEqual([]);
  });
});
