import { describe, expect, it } from 'vitest';
import type { BackupHistory } from '../../ports/backup.ts';
import { recordBackup } from './take-backup.ts';

type Recorded = Parameters<BackupHistory['record']>[0];

/** A history that rejects the first records. */
function historyThatFails(times: number) {
  const records: Recorded[] = [];
  let failures = 0;
  const history: BackupHistory = {
    record: async (backup) => {
      failures += 1;
      if (failures <= times) throw new Error('relation "backup" does not exist');
      records.push(backup);
    },
    list: async () => [],
    findNewestComplete: async () => null,
  };
  return { history, records };
}

const taken = { takenAt: new Date('2026-11-15T01:00:01Z'), bytes: 7, pausedSeconds: 0.2 };

describe('the record of a backup', () => {
  it('contains the outcome of a complete backup', async () => {
    const { history, records } = historyThatFails(0);
    expect(await recordBackup(history, '/backups/a', async () => taken)).toEqual({ ...taken, notRecorded: null });
    expect(records).toMatchObject([{ takenAt: taken.takenAt, bytes: 7, destination: '/backups/a', failure: null }]);
  });

  it('is written again after a lost connection', async () => {
    const { history, records } = historyThatFails(2);
    expect((await recordBackup(history, '/backups/a', async () => taken)).notRecorded).toBeNull();
    expect(records).toHaveLength(1);
  });

  it('can be missing although the backup is complete', async () => {
    const { history } = historyThatFails(Infinity);
    expect(await recordBackup(history, '/backups/a', async () => taken)).toEqual({
      ...taken,
      notRecorded: 'relation "backup" does not exist',
    });
  });

  it.each([0, Infinity])('does not hide why a backup failed if %s attempts to record it fail', async (times) => {
    const { history, records } = historyThatFails(times);
    const failing = recordBackup(history, '/backups/a', () => Promise.reject(new Error('no space left')));
    await expect(failing).rejects.toThrow('no space left');
    expect(records.map(({ failure }) => failure)).toEqual(times === 0 ? ['no space left'] : []);
  });
});
