import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportKey } from '../../adapters/vault/keys.ts';
import { Secret } from '../secret.ts';
import { type CellCount, type CompositionCounts, countingOf } from './counts.ts';
import { cosSquaredNoise } from './noise.ts';
import {
  type Order,
  type Protection,
  defaultProtection,
  isProtecting,
  protectReport,
  publishInPortions,
  topEntries,
} from './protection.ts';

const { draw } = reportKey(new Secret('5a'.repeat(32)), []);
const noise = cosSquaredNoise(draw, defaultProtection.noise);
const off: Protection = { hideUnder: 0, flagUnder: 0, noise: 0, roundTo: 0 };

const arbitraryCell: fc.Arbitrary<CellCount> = fc.record({
  attributeId: fc.integer({ min: 1, max: 5 }),
  value: fc.constantFrom('DE', 'FR', 'GB', 'US', ''),
  devices: fc.integer({ min: 0, max: 300 }),
  warehouseDevices: fc.integer({ min: 300, max: 3000 }),
  warehouseState: fc.string(),
});
const arbitraryCounts: fc.Arbitrary<CompositionCounts> = fc.record({
  members: fc.string(),
  matchedDevices: fc.integer({ min: 0, max: 3000 }),
  knownDevices: fc.integer({ min: 3000, max: 100_000 }),
  countries: fc.constant({}),
  cells: fc.uniqueArray(arbitraryCell, {
    selector: ({ attributeId, value }) => `${attributeId} ${value}`,
    maxLength: 15,
  }),
});

function oneCell(devices: number, change: Partial<CompositionCounts & CellCount> = {}): CompositionCounts {
  const { members = 'm', warehouseState = 's' } = change;
  const cell = { attributeId: 1, value: null, devices, warehouseDevices: 5000, warehouseState };
  return { members, matchedDevices: 1000, knownDevices: 100_000, countries: {}, cells: [cell] };
}

function shown(counts: CompositionCounts, protection: Protection, value = noise): number | null {
  return protectReport(counts, null, protection, value).entries[0]?.devices ?? null;
}

describe('a protected report', () => {
  const noisy = { ...off, noise: 15 };

  it('differs from the exact count by at most the noise bound and is deterministic', () => {
    fc.assert(
      fc.property(arbitraryCounts, (counts) => {
        const report = protectReport(counts, 'country', noisy, noise);
        for (const [index, { devices, warehouseDevices }] of report.entries.entries()) {
          const exact = counts.cells[index];
          expect(Math.abs((devices ?? Number.NaN) - (exact?.devices ?? 0))).toBeLessThanOrEqual(15);
          expect(Math.abs(warehouseDevices - (exact?.warehouseDevices ?? 0))).toBeLessThanOrEqual(15);
        }
        expect(Math.abs(report.matchedDevices - counts.matchedDevices)).toBeLessThanOrEqual(15);
        expect(protectReport(counts, 'country', noisy, noise)).toEqual(report);
      }),
    );
  });

  it.each(['members', 'warehouseState'] as const)(
    'draws different noise when %s changes, even for the same count',
    (what) => {
      const values = Array.from({ length: 60 }, (_, n) => shown(oneCell(500, { [what]: `state ${n}` }), noisy));
      expect(new Set(values).size).toBeGreaterThan(10);
    },
  );

  it('draws the same noise for the same members, regardless of the count', () => {
    const [one, other] = [shown(oneCell(500), noisy), shown(oneCell(501), noisy)];
    expect((other ?? 0) - (one ?? 0)).toBe(1);
  });

  it('publishes only multiples of the rounding step, never above the noisy count', () => {
    fc.assert(
      fc.property(arbitraryCounts, (counts) => {
        const report = protectReport(counts, 'country', { ...off, roundTo: 25 }, noise);
        for (const [index, { devices }] of report.entries.entries()) {
          const exact = protectReport(counts, 'country', noisy, noise).entries[index]?.devices ?? 0;
          expect((devices ?? Number.NaN) % 25).toBe(0);
          expect(exact - (devices ?? Number.NaN)).toBeGreaterThanOrEqual(0);
          expect(exact - (devices ?? Number.NaN)).toBeLessThan(25);
        }
      }),
    );
  });

  it('hides a count if and only if its noisy count is below the threshold', () => {
    for (let devices = 0; devices < 120; devices += 1) {
      for (const members of ['a', 'b', 'c', 'd']) {
        const withNoise = shown(oneCell(devices, { members }), noisy) ?? Number.NaN;
        expect(shown(oneCell(devices, { members }), defaultProtection) === null).toBe(withNoise < 50);
      }
    }
  });

  it('hides the share and index of a hidden count and flags entries that are hidden or below 100', () => {
    fc.assert(
      fc.property(arbitraryCounts, (counts) => {
        for (const entry of protectReport(counts, 'country', defaultProtection, noise).entries) {
          const isHidden = entry.devices === null;
          expect(isHidden && (entry.share !== null || entry.index !== null)).toBe(false);
          expect(entry.small).toBe(entry.devices === null || entry.devices < 100);
        }
      }),
    );
  });

  it('never hides exactly one of several cells of an attribute', () => {
    fc.assert(
      fc.property(arbitraryCounts, (counts) => {
        const { entries } = protectReport(counts, 'country', defaultProtection, noise);
        for (const cells of Map.groupBy(entries, ({ attributeId }) => attributeId).values()) {
          const hidden = cells.filter(({ devices }) => devices === null).length;
          expect(hidden === 1 && cells.length > 1).toBe(false);
        }
      }),
    );
  });

  it('also hides the next smallest cell if only one cell is below the threshold', () => {
    const cells = [500, 10, 300, 200].map((devices, index) => ({
      attributeId: 1,
      value: ['DE', 'FR', 'GB', 'US'][index] ?? '',
      devices,
      warehouseDevices: 5000,
      warehouseState: '',
    }));
    const counts = { members: 'm', matchedDevices: 1010, knownDevices: 100_000, countries: {}, cells };
    const { entries } = protectReport(counts, 'country', defaultProtection, noise);
    expect(entries.map(({ devices }) => devices === null)).toEqual([false, true, false, true]);
  });

  it('computes share and index from published counts', () => {
    const report = protectReport(oneCell(500), null, defaultProtection, noise);
    const [entry] = report.entries;
    expect(entry?.share).toBe((entry?.devices ?? 0) / report.matchedDevices);
    expect(entry?.warehouseShare).toBe((entry?.warehouseDevices ?? 0) / report.warehouseDevices);
    expect(entry?.index).toBe((entry?.share ?? 0) / (entry?.warehouseShare ?? 0));
  });
});

describe('an unprotected report', () => {
  it('reports exact counts without protection', () => {
    expect(protectReport(oneCell(3), null, off, cosSquaredNoise(draw, 0))).toEqual({
      isProtected: false,
      matchedDevices: 1000,
      warehouseDevices: 100_000,
      countries: {},
      entries: [
        {
          attributeId: 1,
          value: null,
          devices: 3,
          share: 0.003,
          warehouseDevices: 5000,
          warehouseShare: 0.05,
          index: 0.003 / 0.05,
          small: false,
        },
      ],
    });
  });

  it('reports null shares when the total is zero', () => {
    const empty = { members: '', matchedDevices: 0, knownDevices: 0, countries: {}, cells: oneCell(0).cells };
    const [entry] = protectReport(empty, null, off, cosSquaredNoise(draw, 0)).entries;
    expect(entry).toMatchObject({ devices: 0, share: null, warehouseShare: null, index: null });
  });

  it('counts a device once per event without protection and once in total with protection', () => {
    expect(countingOf('event', isProtecting(off))).toBe('event');
    for (const on of [{ hideUnder: 1 }, { noise: 1 }, { roundTo: 1 }]) {
      expect(countingOf('event', isProtecting({ ...off, ...on }))).toBe('first_event');
    }
    expect([countingOf(null, true), countingOf('country', true)]).toEqual(['none', 'country']);
  });
});

describe('a published report', () => {
  const cells = Array.from({ length: 2_000 }, (_, n): CellCount => ({
    attributeId: Math.floor(n / 7),
    value: String(n % 7),
    devices: (n * 37) % 211,
    warehouseDevices: 300 + ((n * 53) % 900),
    warehouseState: String(n),
  }));
  const counts = { members: 'm', matchedDevices: 3000, knownDevices: 100_000, countries: {}, cells };

  it('has the same top entries as a report that is protected all at once', () => {
    const portions = publishInPortions(counts, 'country', defaultProtection, noise);
    let [next, yields] = [portions.next(), 0];
    for (; !next.done; next = portions.next()) yields += 1;
    const { entries, ...totals } = protectReport(counts, 'country', defaultProtection, noise);
    const top = (order: Order): unknown => topEntries(entries, order, 100);
    expect(next.value).toEqual({
      ...totals,
      totals: {
        entries: 2_000,
        small: entries.filter(({ small }) => small).length,
        hidden: entries.filter(({ devices }) => devices === null).length,
      },
      top: { devices: top('devices'), index: top('index'), lowest_index: top('lowest_index') },
      cells: entries,
    });
    expect(yields).toBeGreaterThanOrEqual(4);
  });

  it('has no entries if the warehouse has no attributes', () => {
    const portions = publishInPortions({ ...counts, cells: [] }, null, defaultProtection, noise);
    let next = portions.next();
    while (!next.done) next = portions.next();
    expect(next.value).toMatchObject({
      isProtected: true,
      totals: { entries: 0, small: 0, hidden: 0 },
      top: { devices: [], index: [] },
    });
  });
});
