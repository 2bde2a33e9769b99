import Fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RefusedKey } from '../../domain/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { noteCheck, whileAllowed } from './while-allowed.ts';

describe('a request that takes long', () => {
  let answers: (Error | null)[];
  let looks: number;
  let refusals: Failure[];
  let isOver: boolean;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    [answers, looks, refusals, isOver] = [[], 0, [], false];
    const api = Fastify();
    api.get('/', (request) => {
      noteCheck(request, () => Promise.resolve());
      noteCheck(request, check);
      whileAllowed(request, { isOver: () => isOver, onRefused: (why) => refusals.push(why) });
      return 'begun';
    });
    await api.inject('/');
  });
  afterEach(() => vi.useRealTimers());

  function check(): Promise<void> {
    looks += 1;
    const answer = answers.shift() ?? null;
    return answer ? Promise.reject(answer) : Promise.resolve();
  }

  it('is looked at every two seconds, while its caller is let in', async () => {
    await vi.advanceTimersByTimeAsync(60_000);
    expect([looks, refusals]).toEqual([30, []]);
  });

  it.each([new RefusedKey(null), new Failure('scope_missing', 'x'), new Failure('invalid_user_token', 'x')])(
    'is ended once when its caller would be refused: $code',
    async (why) => {
      answers = [null, null, why];
      await vi.advanceTimersByTimeAsync(60_000);
      expect([looks, refusals]).toEqual([3, [why]]);
    },
  );

  it('goes on while nobody can say', async () => {
    answers = [new Error('connection lost'), new Failure('unavailable', 'x'), null, new RefusedKey(null)];
    await vi.advanceTimersByTimeAsync(60_000);
    expect([looks, refusals.length]).toEqual([4, 1]);
  });

  it('is not looked at any more when it is over', async () => {
    await vi.advanceTimersByTimeAsync(5_000);
    isOver = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([looks, refusals]).toEqual([2, []]);
  });
});
