import { describe, expect, it } from 'vitest';
import { actionsOn, funnelOf, isMatchRounded } from './describe-audience.ts';

describe('funnelOf', () => {
  it('compares each step with the uploaded devices', () => {
    const steps = funnelOf({ uploaded_devices: 200, unique_devices: 100, matched_devices: 50 });
    expect(steps.map(({ share }) => share)).toEqual([1, 0.5, 0.25]);
  });

  it('is empty for an empty audience', () => {
    const steps = funnelOf({ uploaded_devices: 0, unique_devices: 0, matched_devices: 0 });
    expect(steps.map(({ share }) => share)).toEqual([0, 0, 0]);
  });
});

describe('isMatchRounded', () => {
  it.each([
    [0, false],
    [1, true],
    [999, true],
    [1_000, false],
  ])('for %i devices: %s', (unique_devices, expected) => expect(isMatchRounded({ unique_devices })).toBe(expected));
});

describe('actionsOn', () => {
  const append = {
    status: 3,
    cleared: false,
    files: { all: 3, loaded: 2, failed: 1 },
    cancel_requested_at: null,
  } as const;
  it.each([
    ['a running append', { status: 1 }, ['cancel']],
    ['an append that was canceled', { status: 0, cancel_requested_at: '2026-11-15T01:12:18.268Z' }, []],
    ['a loaded append', { status: 2 }, []],
    ['an append of which some files failed', {}, ['failed', 'all']],
    ['an append of which all files failed', { files: { all: 1, loaded: 0, failed: 1 } }, ['all']],
    ['an append without files', { files: null }, ['all']],
    ['a cleared append', { cleared: true }, []],
  ] as const)('for %s', (_name, changes, expected) => expect(actionsOn({ ...append, ...changes })).toEqual(expected));
});
