import { describe, expect, it } from 'vitest';
import { readView, viewQuery, withSplit } from './view.ts';

const initial = { split: null, order: 'index', country: null, audienceId: null, showsSmall: false } as const;

describe('the view in the address of a report', () => {
  it('omits defaults from the address', () => {
    expect(readView({})).toEqual(initial);
    expect(viewQuery(initial)).toBe('');
  });

  it('stays the same when it is written to the address and read again', () => {
    for (const query of ['?split=event&order=devices&country=DE', '?order=lowest_index&audience=7&small=include']) {
      expect(viewQuery(readView(Object.fromEntries(new URLSearchParams(query))))).toBe(query);
    }
  });

  it('ignores values that the API would reject', () => {
    expect(readView({ split: 'city', order: 'name', country: 'Germany', audience: '0x1', small: 'x' })).toEqual(
      initial,
    );
  });

  it('has no country baseline if the report is split by country or ID type', () => {
    expect(readView({ split: 'country', country: 'DE' }).country).toBeNull();
    expect(withSplit({ ...initial, country: 'DE' }, 'id_type').country).toBeNull();
    expect(withSplit({ ...initial, country: 'DE' }, 'event').country).toBe('DE');
  });
});
