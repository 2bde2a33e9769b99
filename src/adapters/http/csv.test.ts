import { describe, expect, it } from 'vitest';
import { prefersCsv } from './csv.ts';

describe('Accept', () => {
  it.each([
    'text/csv',
    'TEXT/CSV',
    'text/csv; charset=utf-8',
    'text/csv;header=present; Q=0.1',
    'application/xml, text/csv;q=0.9',
    'text/csv, */*;q=0.1',
    'text/csv, application/json',
    'application/json;q=0.5, text/csv;q=0.6',
    'application/json;q=0, text/csv;q=0.001',
    'text/csv;q=many',
  ])('returns CSV for Accept: "%s"', (accept) => {
    expect(prefersCsv(accept)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json',
    'text/csv-schema',
    'application/vnd.text/csv',
    'text/csv;q=0',
    'text/csv;q=0.000',
    'application/json, text/csv',
    'application/json, text/csv;q=0.9',
    'text/csv;q=0.5, application/json;q=0.6',
    ',;,;q=1',
  ])('does not return CSV for Accept: "%s"', (accept) => {
    expect(prefersCsv(accept)).toBe(false);
  });
});
