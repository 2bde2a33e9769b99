import { afterEach, describe, expect, it, vi } from 'vitest';
import { UploadMemory, findRemembered, folderOf, othersIn, parseRemembered } from './resume.ts';

const entry = {
  upload_id: 'u1',
  requested_path: 'uploads/a/1.csv',
  file_path: 'customers/7/uploads/a/1.csv',
  name: '1.csv',
  size: 5,
  last_modified: 7,
  is_gzip: false,
  is_complete: false,
};

describe('findRemembered', () => {
  it.each([
    [{ name: '1.csv', size: 5, lastModified: 7 }, 'u1'],
    [{ name: '2.csv', size: 5, lastModified: 7 }, undefined],
    [{ name: '1.csv', size: 6, lastModified: 7 }, undefined],
    [{ name: '1.csv', size: 5, lastModified: 8 }, undefined],
  ])('finds for %j: %s', (file, uploadId) => expect(findRemembered([entry], file)?.upload_id).toBe(uploadId));
});

describe('parseRemembered', () => {
  it.each([
    [null, []],
    ['', []],
    ['{}', []],
    [JSON.stringify([{ ...entry, size: '5' }, null, 1]), []],
    [JSON.stringify([entry]), [entry]],
  ])('reads %j', (text, entries) => expect(parseRemembered(text)).toEqual(entries));
});

describe('folderOf', () => {
  it.each([
    ['uploads/a/1.csv', 'uploads/a/'],
    ['1.csv', ''],
  ])('of %s is %j', (path, folder) => expect(folderOf({ requested_path: path })).toBe(folder));
});

describe('othersIn', () => {
  const other = (name: string, isComplete: boolean, folder = 'uploads/a/') => ({
    ...entry,
    upload_id: `${folder}${name}${isComplete}`,
    name,
    requested_path: folder + name,
    is_complete: isComplete,
  });
  const namesOf = (remembered: ReturnType<typeof other>[], ...chosen: string[]) => {
    const { complete, incomplete } = othersIn(remembered, 'uploads/a/', new Set(chosen));
    return [complete.map(({ name }) => name), incomplete.map(({ name }) => name)];
  };

  it('lists the files in the folder that were not chosen', () => {
    const remembered = [other('1.csv', true), other('2.csv', true), other('3.csv', false), other('4.csv', false)];
    expect(namesOf(remembered, '1.csv', '4.csv')).toEqual([['2.csv'], ['3.csv']]);
    expect(namesOf(remembered)).toEqual([
      ['1.csv', '2.csv'],
      ['3.csv', '4.csv'],
    ]);
  });

  it('omits files in other folders', () => {
    expect(namesOf([other('1.csv', true, 'uploads/b/'), other('2.csv', false, '')])).toEqual([[], []]);
  });

  it('lists a file only once if it was uploaded again', () => {
    expect(namesOf([other('1.csv', true), other('1.csv', false)])).toEqual([['1.csv'], []]);
  });
});

describe('UploadMemory', () => {
  /** A local storage whose keys are its enumerable properties, as in browsers. */
  function storageOf(limit = Number.POSITIVE_INFINITY): Record<string, unknown> {
    const storage: Record<string, unknown> = {};
    const define = (name: string, value: unknown) => Object.defineProperty(storage, name, { value });
    define('getItem', (key: string) => storage[key] ?? null);
    define('setItem', (key: string, text: string) => {
      if (text.length > limit) throw new Error('the quota is exceeded');
      storage[key] = text;
    });
    define('removeItem', (key: string) => void delete storage[key]);
    return storage;
  }
  const upload = (folder: string, name: string, isComplete = false) => ({
    ...entry,
    upload_id: folder + name,
    name,
    requested_path: folder + name,
    is_complete: isComplete,
  });
  const idsIn = (memory: UploadMemory) => memory.all().map(({ upload_id }) => upload_id);

  afterEach(() => void vi.unstubAllGlobals());

  it('stores the uploads of one account by folder', () => {
    const storage = storageOf();
    vi.stubGlobal('localStorage', storage);
    const [memory, other] = [new UploadMemory('acme//import'), new UploadMemory('acme//audience')];
    for (const folder of ['b/', 'a/']) for (const name of ['1', '2']) memory.keep(upload(folder, name));
    memory.keep(upload('a/', '1', true));
    other.keep(upload('c/', '1'));
    expect(Object.keys(storage)).toHaveLength(3);
    expect(idsIn(memory)).toEqual(['a/2', 'a/1', 'b/1', 'b/2']);
    expect(memory.all().find(({ upload_id }) => upload_id === 'a/1')?.is_complete).toBe(true);
    memory.forget(['a/1', 'a/2', 'b/1']);
    expect(idsIn(memory)).toEqual(['b/2']);
    expect(idsIn(other)).toEqual(['c/1']);
    expect(Object.keys(storage)).toHaveLength(2);
  });

  it('forgets a folder that it could not store completely', () => {
    vi.stubGlobal('localStorage', storageOf(250));
    const memory = new UploadMemory('acme//import');
    memory.keep(upload('a/', '1', true));
    expect(idsIn(memory)).toEqual(['a/1']);
    memory.keep(upload('a/', '2'));
    memory.forget(['a/2']);
    memory.keep(upload('a/', '3'));
    expect(idsIn(memory)).toEqual([]);
    memory.keep(upload('b/', '1'));
    expect(idsIn(memory)).toEqual(['b/1']);
  });
});
