import type { CompositionEntry } from '@inlet/sdk/browser';
import { describe, expect, it } from 'vitest';
import { countries, entryLabel, isolate, valueLabel } from './entry-labels.ts';

const entry = (attribute_id: number, name: string, provider: string, value?: string): CompositionEntry => ({
  attribute_id,
  name,
  provider,
  ...(value === undefined ? {} : { value }),
  devices: null,
  devices_range: null,
  share: null,
  warehouse_devices: 0,
  warehouse_share: null,
  index: null,
  index_range: null,
  small: true,
});

describe('the label of an entry', () => {
  it('is the name of the attribute', () => {
    const travel = entry(1, 'travel', 'acme');
    expect(entryLabel(travel, null, [travel, entry(2, 'sports', 'acme')])).toBe(isolate('travel'));
  });

  it('contains the provider if another attribute has the same name', () => {
    const travel = entry(1, 'travel', 'acme');
    expect(entryLabel(travel, null, [travel, entry(2, 'travel', 'globex')])).toBe(
      `${isolate('travel')} by ${isolate('acme')}`,
    );
  });

  it('contains the value of the split', () => {
    const [view, buy] = [entry(1, 'travel', 'acme', 'view'), entry(1, 'travel', 'acme', 'buy')];
    expect(entryLabel(view, 'event', [view, buy])).toBe(`${isolate('travel')} in “${isolate('view')}”`);
  });

  it('names ID types, countries, and unknown values', () => {
    expect(valueLabel('id_type', '1')).toBe('IDFA');
    expect(valueLabel('country', 'DE')).toBe('Germany');
    expect(valueLabel('country', '')).toBe('Unknown country');
    expect(valueLabel('event', '')).toBe('No event');
  });
});

describe('the countries', () => {
  it('have different names', () => {
    const names = countries().map(({ name }) => name);
    expect(names).toHaveLength(249);
    expect(new Set(names).size).toBe(names.length);
  });
});
