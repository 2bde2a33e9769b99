import { describe, expect, it } from 'vitest';
import { defaultRequestLimits } from '../../domain/limits.ts';
import type { RequestPortion, RequestWindows } from '../../ports/request-store.ts';
import { type Admission, type RequestLimiter, limitRequests } from './limit-requests.ts';

const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const partner = { id: 1, name: 'acme', prefix: 'acme/' };
const caller = (keyId: number, partnerId = 1) => ({ partner: { ...partner, id: partnerId }, keyId, scopes: [] });

/** A session of the subject that has this window. */
const browser = (windowId: number, id = 1) => {
  const session = {
    id,
    name: 'Dana Fox',
    expiresAt: new Date('2026-11-18T12:00:00Z'),
    partner,
    customer: null,
    scopes: [],
    windowId,
    role: 'partner',
    target: null,
  } as const;
  return { partner, keyId: null, scopes: [], session };
};

/** A counter that all processes share, as in PostgreSQL. */
function sharedWindows() {
  const taken = new Map<string, number>();
  const window = { secondsLeft: 30, isDown: false };
  const queries: (readonly RequestPortion[])[] = [];
  const windows: RequestWindows = {
    take: async (portions) => {
      queries.push(portions);
      await new Promise((resolve) => void setImmediate(resolve));
      if (window.isDown) throw new Error('unavailable');
      return portions.map(({ partnerId, windowId, requests }) => {
        const sum = (taken.get(`${partnerId} ${windowId}`) ?? 0) + requests;
        taken.set(`${partnerId} ${windowId}`, sum);
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
  return { limiter, window, queries, forget: () => taken.clear() };
}

const isAdmitted = ({ exceeded }: Admission): boolean => exceeded === null;

describe('requests with a key', () => {
  it('admits requests up to the limit with few queries', async () => {
    const { limiter, queries } = sharedWindows();
    const { admit } = limiter(300);
    const admissions: Admission[] = [];
    for (let request = 0; request < 320; request++) admissions.push(await admit(caller(1)));
    expect(admissions.filter(isAdmitted)).toHaveLength(300);
    expect(admissions.slice(0, 300).every(isAdmitted)).toBe(true);
    expect(queries.length).toBeLessThan(60);
    expect(admissions[0]?.quotas[0]).toEqual({ name: 'key', limit: 300, remaining: 299, secondsLeft: 30 });
    expect(admissions.at(-1)?.exceeded).toEqual({ name: 'key', limit: 300, remaining: 0, secondsLeft: 30 });
  });

  it('needs no query for further requests after the first rejection', async () => {
    const { limiter, queries } = sharedWindows();
    const { admit } = limiter(3);
    for (let request = 0; request < 4; request++) await admit(caller(1));
    const before = queries.length;
    for (let request = 0; request < 100; request++) expect(isAdmitted(await admit(caller(1)))).toBe(false);
    expect(queries.length).toBe(before);
  });

  it('counts each concurrent request with few queries', async () => {
    const { limiter, queries } = sharedWindows();
    const { admit } = limiter(300);
    const admissions = await Promise.all(Array.from({ length: 500 }, () => admit(caller(1))));
    expect(admissions.filter(isAdmitted)).toHaveLength(300);
    expect(queries.length).toBeLessThan(10);
  });

  it('never exceeds the limit across processes and withholds only requests reserved by other processes', async () => {
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

  it('counts requests against the key and the partner, but not against other keys', async () => {
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

  it('counts console sessions separately from keys, and all sessions of a subject together', async () => {
    const { limiter } = sharedWindows();
    const { admit } = limiter(5, 8);
    const send = async (session: ReturnType<typeof browser>): Promise<number> => {
      let admitted = 0;
      while (isAdmitted(await admit(session))) admitted += 1;
      return admitted;
    };
    expect(await send(browser(-7))).toBe(5);
    expect((await admit(browser(-7, 2))).exceeded).toMatchObject({ name: 'session', limit: 5 });
    expect(await send(browser(-8))).toBe(3);
    expect((await admit(browser(-9))).exceeded).toMatchObject({ name: 'sessions', limit: 8 });
    let admitted = 0;
    while (isAdmitted(await admit(caller(1)))) admitted += 1;
    expect(admitted).toBe(5);
  });

  it('counts the readers of a linked report separately, and all readers of one audience together', async () => {
    const { limiter } = sharedWindows();
    const { admit } = limiter(5, 16);
    const send = async (windowId: number, id: number): Promise<number> => {
      const { session, ...others } = browser(windowId, id);
      const reader = {
        ...others,
        session: { ...session, role: 'link', target: { segmentId: 1, audienceId: 1 } },
      } as const;
      let admitted = 0;
      for (;;) {
        const { exceeded } = await admit(reader);
        if (exceeded) return admitted;
        admitted += 1;
      }
    };
    expect(await send(-7, 1)).toBe(5);
    expect(await send(-7, 2)).toBe(3);
    expect(await send(-7, 3)).toBe(0);
    expect(await send(-8, 4)).toBe(5);
    expect(await send(-9, 5)).toBe(3);
  });

  it('counts from zero in the next window', async () => {
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

  it('admits requests while the counters are unavailable and counts them again afterward', async () => {
    const { limiter, window } = sharedWindows();
    const { admit } = limiter(2);
    window.isDown = true;
    const admitted = await Promise.all(Array.from({ length: 5 }, () => admit(caller(1))));
    expect(admitted).toEqual(Array.from({ length: 5 }, () => ({ exceeded: null, quotas: [] })));
    window.isDown = false;
    const admissions = [await admit(caller(1)), await admit(caller(1)), await admit(caller(1))];
    expect(admissions.map(isAdmitted)).toEqual([true, true, false]);
  });
});
