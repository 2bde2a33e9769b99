import { describe, expect, it } from 'vitest';
import { addressOf, apiQuery, readFilters } from './list-filters.ts';

const names = ['status', 'type', 'path', 'from', 'to'];

describe('readFilters', () => {
  it('keeps the known filters', () => {
    const query = { status: '0,1', type: '1', path: 'a/', from: '2026-11-01', to: '2026-11-18' };
    expect(readFilters({ ...query, other: 'x' }, names)).toEqual(query);
  });

  it.each([
    { status: '4' },
    { status: 'open' },
    { type: '2' },
    { from: '18.11.2026' },
    { to: '2026-11-18T00:00' },
    { path: '' },
  ])('ignores %j', (query) => expect(readFilters(query, names)).toEqual({}));
});

describe('apiQuery', () => {
  it('uses the parameter names of the API', () => {
    expect(apiQuery({ status: '3', type: '0', path: 'a&b/' })).toEqual({ status: '3', log_type: '0', path: 'a&b/' });
  });

  it("includes the whole last day in the reader's time zone", () => {
    const query = apiQuery({ from: '2026-10-31', to: '2026-10-31' });
    expect(query).toEqual({
      created_from: new Date(2026, 9, 31).toISOString(),
      created_to: new Date(2026, 10, 1).toISOString(),
    });
  });
});

describe('addressOf', () => {
  it('encodes the values and omits empty ones', () => {
    expect(addressOf('/console/imports', { status: '0,1', path: 'a&b=/ü', from: '' })).toBe(
      '/console/imports?status=0%2C1&path=a%26b%3D%2F%C3%BC',
    );
    expect(addressOf('/console/imports', { status: '' })).toBe('/console/imports');
  });
});
