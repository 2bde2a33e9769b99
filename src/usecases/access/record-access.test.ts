import { describe, expect, it } from 'vitest';
import type { DeniedCall } from '../../domain/audit.ts';
import { type AccessRecorder, accessRecorder, ownRowsPerMinute } from './record-access.ts';

function recording() {
  const written = { uses: new Array<readonly number[]>(), denied: new Array<DeniedCall>() };
  const clock = { ms: Date.UTC(2026, 10, 16) };
  const store = { isDown: false, rejectsUses: false };
  const never = (): never => {
    throw new Error('must not be called');
  };
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const writing = async <T>(list: T[], ...values: T[]): Promise<void> => {
    if (store.isDown) throw new Error('unavailable');
    list.push(...values);
    return Promise.resolve();
  };
  const recorder = accessRecorder(
    {
      keys: {
        create: never,
        list: never,
        rotate: never,
        revoke: never,
        recordUses: (ids) =>
          store.rejectsUses ? Promise.reject(new Error('unavailable')) : writing(written.uses, ids),
      },
      audit: { list: never, addDenied: (calls) => writing(written.denied, ...calls) },
      log: quiet,
    },
    () => clock.ms,
  );
  return { recorder, written, clock, store };
}

const denied = (
  keyId: number | null,
  requestId: string,
  operation = 'getAudience',
  address = '203.0.113.7',
): Parameters<AccessRecorder['recordDenied']>[0] => ({
  at: new Date(0),
  partnerId: keyId && 1,
  keyId,
  sessionId: null,
  operation,
  code: 'unauthenticated',
  requestId,
  address,
});

describe('the access recorder', () => {
  it('writes each used key once per flush', async () => {
    const { recorder, written } = recording();
    for (const keyId of [7, 8, 7, 7]) recorder.recordUse(keyId);
    expect(written.uses).toEqual([]);
    await recorder.flush();
    await recorder.flush();
    expect(written.uses).toEqual([[7, 8]]);
  });

  it('writes every denied call while denied calls are rare', async () => {
    const { recorder, written } = recording();
    recorder.recordDenied(denied(null, 'a'));
    recorder.recordDenied(denied(7, 'b'));
    await recorder.flush();
    await recorder.flush();
    expect(written.denied).toEqual([
      { ...denied(null, 'a'), calls: 1 },
      { ...denied(7, 'b'), calls: 1 },
    ]);
  });

  it('aggregates further calls from unknown callers into one row per minute without losing any', async () => {
    const { recorder, written, clock } = recording();
    for (let minute = 0; minute < 3; minute += 1) {
      for (let n = 0; n < 10_000; n += 1) {
        recorder.recordDenied(denied(null, `${n}`));
        if (n % 1_000 === 0) await recorder.flush();
      }
      clock.ms += 60_000;
      await recorder.flush();
    }
    expect(written.denied).toHaveLength(3 * (ownRowsPerMinute + 1));
    expect(written.denied.reduce((sum, { calls }) => sum + calls, 0)).toBe(30_000);
    expect(written.denied.at(-1)).toEqual({ ...denied(null, ''), requestId: null, calls: 10_000 - ownRowsPerMinute });
  });

  it('writes calls with a known key separately from the aggregated calls of unknown callers', async () => {
    const { recorder, written } = recording();
    for (let n = 0; n < 100; n += 1) recorder.recordDenied(denied(null, `${n}`, `operation-${n}`, `10.0.0.${n}`));
    recorder.recordDenied(denied(7, 'mine'));
    await recorder.close();
    expect(written.denied.filter(({ keyId }) => keyId === 7)).toEqual([{ ...denied(7, 'mine'), calls: 1 }]);
    expect(written.denied.filter(({ calls }) => calls > 1)).toMatchObject([
      { operation: 'several', address: null, calls: 90 },
    ]);
  });

  it('keeps up to a fixed number of entries while the database is down', async () => {
    const { recorder, written, store, clock } = recording();
    store.isDown = true;
    for (let minute = 0; minute < 200; minute += 1) {
      for (let n = 0; n < 20; n += 1) recorder.recordDenied(denied(null, `${minute}-${n}`));
      clock.ms += 60_000;
      await expect(recorder.flush()).rejects.toThrow('unavailable');
    }
    store.isDown = false;
    await recorder.flush();
    expect(written.denied).toHaveLength(1_000);
    expect(written.denied[0]).toMatchObject({ requestId: '0-0' });
  });

  it('writes denied calls even when key uses cannot be written', async () => {
    const { recorder, written, store } = recording();
    store.rejectsUses = true;
    recorder.recordUse(7);
    recorder.recordDenied(denied(null, 'a'));
    await expect(recorder.flush()).rejects.toThrow('unavailable');
    expect(written.denied).toHaveLength(1);
  });

  it('writes all pending entries on shutdown', async () => {
    const { recorder, written } = recording();
    for (let n = 0; n < 25; n += 1) recorder.recordDenied(denied(null, `${n}`));
    recorder.recordUse(7);
    await recorder.close();
    expect(written.denied.reduce((sum, { calls }) => sum + calls, 0)).toBe(25);
    expect(written.uses).toEqual([[7]]);
  });
});
