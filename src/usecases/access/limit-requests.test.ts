import { describe, expect, it } from 'vitest';
import { defaultRequestLimits } from '../../domain/limits.ts';
import type { RequestPortion, RequestWindows } from '../../ports/request-store.ts';
import { type Admission, type RequestLimiter, limitRequests } from './limit-requests.ts';

const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const partner = { id: 1, name: 'acme', prefix: 'acme/' };
const caller = (keyId: number, partnerId = 1) => ({ partner: { ...partner, id: partnerId }, keyId, scopes: [] });

/** One count for all, as PostgreSQL has it. */
function sharedWindows() {
  const taken = new Map<string, number>();
  const window = { secondsLeft: 30, isAway: false };
  const asked: (readonly RequestPortion[])[] = [];
  const windows: RequestWindows = {
    take: async (portions) => {
      asked.push(portions);
      await new Promise((resolve) => void setImmediate(resolve));
      if (window.isAway) throw new Error('away');
      return portions.map(({ partnerId, keyId, requests }) => {
        const sum = (taken.get(`${partnerId} ${keyId}`) ?? 0) + requests;
        taken.set(`${partnerId} ${keyId}`, sum);
        return { taken: sum, secondsLeft: window.secondsLeft };
      });
    },
    sweep: () => Promise.resolve(),
  };
  const limiter = (perKey: number, perPartner = 1_000_000): RequestLimiter =>
    limitRequests({
      requestWindows: windows,
      requestLimits: { ...defaultRequestLimits, perKey, perPartner },
      log: silentLog,
    });
  return { limiter, window, asked, forget: () => taken.clear() };
}

const isAdmitted = ({ exceeded }: Admission): boolean => exceeded === null;

describe('requests of a key', () => {
  it('are let through up to the limit and no further, with few questions', async () => {
    const { limiter, asked } = sharedWindows();
    const { admit } = limiter(300);
    const admissions: Admission[] = [];
    for (let request = 0; request < 320; request++) admissions.push(await admit(caller(1)));
    expect(admissions.filter(isAdmitted)).toHaveLength(300);
    expect(admissions.slice(0, 300).every(isAdmitted)).toBe(true);
    expect(asked.length).toBeLessThan(60);
    expect(admissions[0]?.quotas[0]).toEqual({ name: 'key', limit: 300, remaining: 299, secondsLeft: 30 });
    expect(admissions.at(-1)?.exceeded).toEqual({ name: 'key', limit: 300, remaining: 0, secondsLeft: 30 });
  });

  it('that are refused ask nobody', async () => {
    const { limiter, asked } = sharedWindows();
    const { admit } = limiter(3);
    for (let request = 0; request < 4; request++) await admit(caller(1));
    const before = asked.length;
    for (let request = 0; request < 100; request++) expect(isAdmitted(await admit(caller(1)))).toBe(false);
    expect(asked.length).toBe(before);
  });

  it('that come at once are counted each, with a few questions', async () => {
    const { limiter, asked } = sharedWindows();
    const { admit } = limiter(300);
    const admissions = await Promise.all(Array.from({ length: 500 }, () => admit(caller(1))));
    expect(admissions.filter(isAdmitted)).toHaveLength(300);
    expect(asked.length).toBeLessThan(10);
  });

  it('are never more than the limit over several processes, and at most what others hold fewer', async () => {
    const { limiter } = sharedWindows();
    const processes = Array.from({ length: 4 }, () => limiter(300));
    let admitted = 0;
    for (let turn = 0; ; turn++) {
      const admission = await processes[turn % 4]?.admit(caller(1));
      if (!admission || !isAdmitted(admission)) break;
      admitted += 1;
    }
    expect(admitted).toBeGreaterThanOrEqual(300 - 3 * 9);
    for (const { admit } of processes) while (isAdmitted(await admit(caller(1)))) admitted += 1;
    expect(admitted).toBe(300);
  });

  it('do not count for another key, but for its partner', async () => {
    const { limiter } = sharedWindows();
    const { admit } = limiter(5, 8);
    const send = async (keyId: number, partnerId?: number): Promise<number> => {
      let admitted = 0;
      while (isAdmitted(await admit(caller(keyId, partnerId)))) admitted += 1;
      return admitted;
    };
    expect(await send(1)).toBe(5);
    expect(await send(2)).toBe(3);
    expect((await admit(caller(3))).exceeded?.name).toBe('partner');
    expect(await send(4, 2)).toBe(5);
  });

  it('are counted anew in the next window', async () => {
    const { limiter, window, forget } = sharedWindows();
    const { admit } = limiter(2);
    window.secondsLeft = 0.05;
    while (isAdmitted(await admit(caller(1))));
    forget();
    const end = performance.now() + 5_000;
    let isOpen = false;
    while (!isOpen && performance.now() < end) isOpen = isAdmitted(await admit(caller(1)));
    expect(isOpen).toBe(true);
  });

  it('are let through when nobody can be asked, and counted again afterwards', async () => {
    const { limiter, window } = sharedWindows();
    const { admit } = limiter(2);
    window.isAway = true;
    const away = await Promise.all(Array.from({ length: 5 }, () => admit(caller(1))));
    expect(away).toEqual(Array.from({ length: 5 }, () => ({ exceeded: null, quotas: [] })));
    window.isAway = false;
    const admissions = [await admit(caller(1)), await admit(caller(1)), await admit(caller(1))];
    expect(admissions.map(isAdmitted)).toEqual([true, true, false]);
  });
});
