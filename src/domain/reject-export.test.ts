import { describe, expect, it } from 'vitest';
import {
  earlierRejects,
  folderOfAudienceFile,
  folderOfImport,
  isSkippedRejects,
  keyOfRejects,
} from './reject-export.ts';

describe('the objects of an export of rejected rows', () => {
  it('keep the path of the file, in a separate folder for each import and each audience file', () => {
    const folder = folderOfImport('acme/', 12);
    expect(keyOfRejects(folder, 2, { path: 'day/a.csv', fileId: 7 })).toBe('acme/rejects/12/2/day/a.csv.csv.gz');
    expect(folderOfAudienceFile('acme/', 3, 71)).toBe('acme/rejects/audiences/3/71/');
  });

  it('are named after the ID of the file if the key would be too long', () => {
    const path = 'ä'.repeat(505);
    expect(keyOfRejects('acme/rejects/12/', 2, { path, fileId: 7 })).toBe('acme/rejects/12/2/7.csv.gz');
  });

  it.each([
    { key: 'acme/rejects/12/1/a.csv.csv.gz', isRemoved: true },
    { key: 'acme/rejects/12/2/7.csv.gz', isRemoved: true },
    { key: 'acme/rejects/12/3/a.csv.csv.gz', isRemoved: false },
    { key: 'acme/rejects/12/1/notes.txt', isRemoved: false },
    { key: 'acme/rejects/12/a.csv.csv.gz', isRemoved: false },
    { key: 'acme/rejects/13/1/a.csv.csv.gz', isRemoved: false },
  ])('attempt 3 removes $key: $isRemoved', ({ key, isRemoved }) => {
    const isEarlier = earlierRejects('acme/rejects/12/', 3, [{ path: 'a.csv', fileId: 7 }]);
    expect(isEarlier(key)).toBe(isRemoved);
  });

  it.each([
    { imported: 'acme/rej', key: 'acme/rejects/12/a.csv.csv.gz', isSkipped: true },
    { imported: 'acme/rejects', key: 'acme/rejects/12/a.csv.csv.gz', isSkipped: true },
    { imported: 'acme/rejects/', key: 'acme/rejects/12/a.csv.csv.gz', isSkipped: false },
    { imported: 'acme/rejects/12/a', key: 'acme/rejects/12/a.csv.csv.gz', isSkipped: false },
    { imported: 'acme/rej', key: 'acme/rejects.csv', isSkipped: false },
    { imported: 'acme/day/', key: 'acme/day/rejects/a.csv', isSkipped: false },
  ])('an import of $imported skips $key: $isSkipped', ({ imported, key, isSkipped }) => {
    expect(isSkippedRejects('acme/', imported, key)).toBe(isSkipped);
  });
});
