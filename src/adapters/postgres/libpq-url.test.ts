import { describe, expect, it } from 'vitest';
import { withParameters } from './libpq-url.ts';

describe('withParameters', () => {
  it('writes spaces and plus signs as libpq decodes them', () => {
    const url = 'postgres://a@b/c?options=-c%20statement_timeout%3D1s&application_name=x%2By&uselibpqcompat=true';
    const { search } = withParameters(url, (parameters) => parameters.delete('uselibpqcompat'));
    expect(search).toBe('?options=-c%20statement_timeout%3D1s&application_name=x%2By');
  });

  it('leaves a URL without parameters unchanged', () => {
    const { href } = withParameters('postgres://a@b/c', (parameters) => parameters.delete('uselibpqcompat'));
    expect(href).toBe('postgres://a@b/c');
  });
});
