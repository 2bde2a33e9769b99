import Fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InvalidApiKey } from '../../domain/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { addAccessCheck, recheckAccess } from './access-recheck.ts';

describe('a long request', () => {
  let results: (Error | null)[];
  let calls: number;
  let denials: Failure[];
  let isOver: boolean;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    [results, calls, denials, isOver] = [[], 0, [], false];
    const api = Fastify();
    api.get('/', (request) => {
      addAccessCheck(request, () => Promise.resolve());
      addAccessCheck(request, check);
      recheckAccess(request, { isOver: () => isOver, onDenied: (denial) => denials.push(denial) });
      return 'started';
    });
    await api.inject('/');
  });
  afterEach(() => vi.useRealTimers());

  function check(): Promise<void> {
    calls += 1;
    const result = results.shift() ?? null;
    return result ? Promise.reject(result) : Promise.resolve();
  }

  it('rechecks the access of a long request every two seconds', async () => {
    await vi.advanceTimersByTimeAsync(60_000);
    expect([calls, denials]).toEqual([30, []]);
  });

  it.each([new InvalidApiKey(null), new Failure('scope_missing', 'x'), new Failure('invalid_user_token', 'x')])(
    'ends a long request once when access is denied with $code',
    async (denial) => {
      results = [null, null, denial];
      await vi.advanceTimersByTimeAsync(60_000);
      expect([calls, denials]).toEqual([3, [denial]]);
    },
  );

  it('continues a long request while access cannot be rechecked', async () => {
    results = [new Error('connection lost'), new Failure('unavailable', 'x'), null, new InvalidApiKey(null)];
    await vi.advanceTimersByTimeAsync(60_000);
    expect([calls, denials.length]).toEqual([4, 1]);
  });

  it('does not recheck access after the request has ended', async () => {
    await vi.advanceTimersByTimeAsync(5_000);
    isOver = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([calls, denials]).toEqual([2, []]);
  });
});
