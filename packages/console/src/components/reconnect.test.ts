import type { Problem } from '@inlet/sdk/browser';
import { describe, expect, it } from 'vitest';
import { canReconnect, reconnectDelay } from './reconnect.ts';

const ofApi = (status: number): Problem => ({
  from: 'api',
  code: 'unknown_code',
  type: '',
  status,
  title: '',
  detail: '',
  instance: '',
  request_id: '',
  errors: [],
  attempts: 1,
});

describe('canReconnect', () => {
  it.each([
    [429, true],
    [503, true],
    [502, true],
    [401, false],
    [403, false],
    [404, false],
  ])('after status %i: %s', (status, expected) => expect(canReconnect(ofApi(status))).toBe(expected));

  it.each([
    ['network_failed', true],
    ['timed_out', true],
    ['unreadable_answer', true],
    ['aborted', false],
    ['invalid_argument', false],
  ] as const)('after %s: %s', (code, expected) => {
    expect(canReconnect({ from: 'sdk', code, detail: '', attempts: 1 })).toBe(expected);
  });
});

describe('reconnectDelay', () => {
  it('doubles with each failure up to 15 seconds', () => {
    expect([0, 1, 2, 3, 4, 10].map((failures) => reconnectDelay(failures, () => 1))).toEqual([
      1_000, 2_000, 4_000, 8_000, 15_000, 15_000,
    ]);
  });

  it('is at least half of the longest delay', () => expect(reconnectDelay(1, () => 0)).toBe(1_000));
});
