import type { CompositionEntry } from '@inlet/sdk/browser';
import { describe, expect, it } from 'vitest';
import { headlineOf } from './headline.ts';

let lastId = 0;

function entry(name: string, index: number, width = 0.1, small = false): CompositionEntry {
  lastId += 1;
  return {
    attribute_id: lastId,
    name,
    provider: 'acme',
    devices: 1000,
    devices_range: { low: 985, high: 1039 },
    share: 0.1,
    warehouse_devices: 5000,
    warehouse_share: 0.1 / index,
    index,
    index_range: { low: index - width, high: index + width },
    small,
  };
}

const report = {
  matched_devices: 10_000,
  protected: true,
  totals: { entries: 20, small: 2, hidden: 1 },
  split: null,
  baseline: null,
};

function headline(entries: readonly CompositionEntry[], given: object = {}): string {
  const input = { report: { ...report, ...given }, entries, baselineName: 'all known devices' };
  return headlineOf({ ...input, labelOf: ({ name }) => name })
    .map(({ text }) => text)
    .join('');
}

describe('the headline of a report', () => {
  it('names what the audience over-indexes on', () => {
    expect(headline([entry('travel', 1.8), entry('sports', 1.5), entry('music', 1)])).toBe(
      'This audience over-indexes on travel (1.8×) and sports (1.5×).',
    );
  });

  it('names what the audience under-indexes on', () => {
    expect(headline([entry('gaming', 0.5)])).toBe('This audience under-indexes on gaming (0.5×).');
  });

  it('names the three largest and the two smallest indexes', () => {
    const all = [3, 2.5, 2, 1.5, 0.7, 0.4, 0.2].map((index) => entry(`a${index}`, index, 0.01));
    expect(headline(all)).toBe(
      'This audience over-indexes on a3 (3.0×), a2.5 (2.5×), and a2 (2.0×), and under-indexes on a0.2 (0.2×) and a0.4 (0.4×).',
    );
  });

  it('shows enough digits to place a factor outside the typical band', () => {
    expect(headline([entry('cooking', 1.234, 0.001), entry('music', 0.7777, 0.001)])).toBe(
      'This audience over-indexes on cooking (1.23×), and under-indexes on music (0.778×).',
    );
    expect(headline([entry('cooking', 1.2034, 0.001)])).toContain('Nothing stands out');
  });

  it('prefers a more certain difference to a larger but less certain one', () => {
    expect(headline([entry('rare', 4, 2.7), entry('travel', 1.8)])).toBe(
      'This audience over-indexes on travel (1.8×) and rare (4.0×).',
    );
  });

  it('names each attribute once if the report is split', () => {
    const [germany, france] = [entry('travel in Germany', 1.8), entry('travel in France', 1.7)];
    expect(
      headline([
        { ...france, attribute_id: 7 },
        { ...germany, attribute_id: 7 },
      ]),
    ).toBe('This audience over-indexes on travel in Germany (1.8×).');
  });

  it('ignores small groups and ranges that reach into the typical band', () => {
    const unclear = [entry('rare', 3, 0.1, true), entry('wide', 2, 0.9), entry('low', 0.5, 0.35)];
    expect(headline([...unclear, entry('travel', 1.8)])).toBe('This audience over-indexes on travel (1.8×).');
    expect(headline(unclear)).toContain('may be noise');
  });

  it('says that nothing stands out if all attributes are typical', () => {
    expect(headline([entry('travel', 1.05), entry('sports', 0.95)])).toBe(
      'Nothing stands out: all attributes are about as common as among all known devices.',
    );
  });

  it('does not call events under-indexed if they are compared with all known devices', () => {
    const low = [entry('travel', 0.2)];
    expect(headline(low, { split: 'event' })).toContain('Compare the indexes of one event with each other.');
    expect(headline(low, { split: 'event', baseline: { default_warehouse_segment_id: 7, devices: 500 } })).toBe(
      'This audience under-indexes on travel (0.2×).',
    );
  });

  it('gives the reason if there are no matches, no attributes, no baseline, or no visible counts', () => {
    expect(headline([], { matched_devices: 0 })).toContain('too few of its devices are known');
    expect(headline([], { matched_devices: 0, protected: false })).toContain('none of its devices are known');
    expect(headline([], { totals: { entries: 0, small: 0, hidden: 0 } })).toContain('no attributes yet');
    expect(headline([], { baseline: { devices: 0 } })).toContain('nothing to compare with');
    expect(headline([], { totals: { entries: 5, small: 5, hidden: 5 } })).toContain('hidden');
    expect(headline([], { totals: { entries: 5, small: 5, hidden: 4 } })).toContain('too small');
  });
});
