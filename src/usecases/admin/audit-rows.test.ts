import { describe, expect, it } from 'vitest';
import type { RecordedAudience, RecordedImport } from '../../ports/row-audit.ts';
import { differencesOfAudience, differencesOfImport } from './audit-rows.ts';

const recordedImport: RecordedImport = {
  jobId: 1,
  partnerId: 2,
  seq: 3,
  isReplace: false,
  uniqueDevices: 10,
  hasLater: false,
  erasedRows: 0,
};

describe('the audit of an import', () => {
  const cases: [behavior: string, changes: Partial<RecordedImport>, devices: number, differs: boolean][] = [
    ['accepts the recorded number of devices', {}, 10, false],
    ['reports missing devices', {}, 9, true],
    ['reports unexpected devices', {}, 11, true],
    ['accepts devices that a later job replaced', { hasLater: true }, 3, false],
    ['reports unexpected devices even if there is a later job', { hasLater: true }, 11, true],
    ['accepts as many missing devices as rows were erased', { erasedRows: 2 }, 8, false],
    ['reports more missing devices than rows were erased', { erasedRows: 2 }, 7, true],
    ['accepts the devices that a replacing import removed', { isReplace: true }, 15, false],
    ['reports missing devices of a replacing import', { isReplace: true }, 9, true],
  ];
  it.each(cases)('%s', (_, changes, devices, differs) => {
    expect(differencesOfImport({ ...recordedImport, ...changes }, devices).length > 0).toBe(differs);
  });
});

const recordedAudience: RecordedAudience = {
  partnerId: 2,
  audienceId: 5,
  generation: 1,
  lastLoadId: 9,
  uploadedDevices: 12,
  uploadedByFiles: 12,
  uniqueDevices: 10,
  matchedDevices: 4,
  erasedRows: 0,
};

describe('the audit of an audience', () => {
  const cases: [behavior: string, changes: Partial<RecordedAudience>, devices: number, differences: string[]][] = [
    ['accepts counts that agree', {}, 10, []],
    ['reports missing devices', {}, 9, ['10 devices are recorded, but 9 are stored.']],
    ['accepts as many missing devices as rows were erased', { erasedRows: 1 }, 9, []],
    [
      'reports more missing devices than rows were erased',
      { erasedRows: 1 },
      8,
      ['10 devices are recorded, but 8 are stored.'],
    ],
    [
      'reports unexpected devices after an erasure',
      { erasedRows: 1 },
      11,
      ['10 devices are recorded, but 11 are stored.'],
    ],
    [
      'reports uploaded devices that the files do not explain',
      { uploadedDevices: 24 },
      10,
      ['24 uploaded devices are recorded, but the files have 12.'],
    ],
    [
      'reports more matched devices than devices',
      { matchedDevices: 11 },
      10,
      ['The counts contradict each other: 12 uploaded, 10 unique, 11 matched.'],
    ],
  ];
  it.each(cases)('%s', (_, changes, devices, differences) => {
    expect(differencesOfAudience({ ...recordedAudience, ...changes }, devices)).toEqual(differences);
  });
});
