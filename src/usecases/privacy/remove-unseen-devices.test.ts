import { describe, expect, it } from 'vitest';
import type { DeviceRetention, UnseenRows } from '../../ports/device-retention.ts';
import { removeUnseenDevices } from './remove-unseen-devices.ts';

const ignore = (): void => undefined;
const log = { info: ignore, warn: ignore, error: ignore };

type Partner = { readonly rows: number; readonly left?: number; readonly error?: Error; readonly isHeld?: boolean };

/** Runs a turn for partners 1, 2, and so on, and returns what was called, in order. */
async function runTurn(partners: readonly Partner[], stopped = new AbortController()): Promise<string[]> {
  const called: string[] = [];
  const of = (id: number): Partner => partners[id - 1] ?? { rows: 0 };
  const deviceRetention: DeviceRetention = {
    hasDue: async () => partners.length > 0,
    runAlone: async (run) => {
      await run();
      return true;
    },
    listDue: async () => partners.map((_, index) => index + 1),
    begin: async (partnerId) => (of(partnerId).isHeld ? null : { partnerId, lastSeq: 5 }),
    recordFound: async ({ partnerId }, { rows }) => void called.push(`found ${rows} of ${partnerId}`),
    finish: async ({ partnerId }) => void called.push(`finished ${partnerId}`),
    postpone: async (partnerId, _seconds, failure) => void called.push(`postponed ${partnerId}: ${failure}`),
  };
  const unseenRows: UnseenRows = {
    find: async ({ partnerId }) => ({ rows: of(partnerId).rows, attributeIds: [] }),
    remove: async ({ partnerId }) => {
      called.push(`removed ${partnerId}`);
      const { error } = of(partnerId);
      if (error) throw error;
    },
    countRemaining: async ({ partnerId }) => of(partnerId).left ?? 0,
  };
  await removeUnseenDevices({ deviceRetention, unseenRows, retention: { jobDays: 400 }, log }, stopped.signal);
  return called;
}

describe('a turn that removes unseen devices', () => {
  it('records what it has found before it removes anything, and ends when nothing is left', async () => {
    expect(await runTurn([{ rows: 3 }])).toEqual(['found 3 of 1', 'removed 1', 'finished 1']);
  });

  it('starts no mutation if there is nothing to remove', async () => {
    expect(await runTurn([{ rows: 0 }])).toEqual(['found 0 of 1', 'finished 1']);
  });

  it('does not end a removal while rows are left, and continues with the next partner', async () => {
    expect(await runTurn([{ rows: 3, left: 1 }, { rows: 0 }])).toEqual([
      'found 3 of 1',
      'removed 1',
      'postponed 1: 1 of 3 rows are still stored.',
      'found 0 of 2',
      'finished 2',
    ]);
  });

  it('counts the rows even if none were found, because an unavailable replica may have rows', async () => {
    expect(await runTurn([{ rows: 0, left: 2 }])).toEqual([
      'found 0 of 1',
      'postponed 1: 2 of 0 rows are still stored.',
    ]);
  });

  it('records why it failed', async () => {
    expect((await runTurn([{ rows: 3, error: new Error('no space left') }])).at(-1)).toBe('postponed 1: no space left');
  });

  it('checks a partner later if its rows cannot be removed now', async () => {
    expect(await runTurn([{ rows: 3, isHeld: true }])).toEqual(['postponed 1: null']);
  });

  it('stops before the next partner when the worker stops', async () => {
    const stopped = new AbortController();
    stopped.abort();
    expect(await runTurn([{ rows: 3 }], stopped)).toEqual([]);
  });
});
