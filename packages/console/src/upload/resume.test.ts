import { describe, expect, it } from 'vitest';
import { findRemembered, folderOf, parseRemembered } from './resume.ts';

const entry = {
  upload_id: 'u1',
  requested_path: 'uploads/a/1.csv',
  file_path: 'customers/7/uploads/a/1.csv',
  name: '1.csv',
  size: 5,
  last_modified: 7,
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
  ])('of %s is %j', (path, folder) => expect(folderOf(path)).toBe(folder));
});
