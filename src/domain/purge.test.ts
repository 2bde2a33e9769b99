import { describe, expect, it } from 'vitest';
import { planPurge } from './purge.ts';

const now = new Date('2026-01-02T00:00:00Z');
const hoursAgo = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);
const dead = (partnerId: number, rows: number, hours = 0) => ({ partnerId, rows, deadAt: hoursAgo(hours) });
const plan = (due: readonly ReturnType<typeof dead>[], stored: Record<number, number>) =>
  planPurge(due, new Map(Object.entries(stored).map(([id, rows]) => [Number(id), rows])), {
    now,
    maxWaitSeconds: 12 * 3600,
  });

describe('planning a purge', () => {
  it('purges a partner with little data immediately', () => {
    const due = [dead(1, 5), dead(2, 900_000)];
    expect(plan(due, { 1: 1_000_000, 2: 900_000 })).toEqual({ purge: due, wait: [], empty: [] });
  });

  it('delays the purge of a large partner until a tenth of its rows are dead', () => {
    const [few, enough] = [dead(1, 99_999), dead(1, 100_001)];
    const stored = { 1: 2_000_000 };
    expect(plan([few], stored)).toEqual({ purge: [], wait: [few], empty: [] });
    expect(plan([few, enough], stored)).toEqual({ purge: [few, enough], wait: [], empty: [] });
  });

  it('purges all dead generations of a partner when the oldest has waited long enough', () => {
    const due = [dead(1, 1, 12), dead(1, 1)];
    expect(plan(due, { 1: 1e9 })).toEqual({ purge: due, wait: [], empty: [] });
    expect(plan([dead(1, 1, 11)], { 1: 1e9 }).purge).toEqual([]);
  });

  it('does not purge generations without rows', () => {
    const due = [dead(1, 0, 100), dead(1, 1)];
    expect(plan(due, { 1: 1e9 })).toEqual({ purge: [], wait: [due[1]], empty: [due[0]] });
  });
});
