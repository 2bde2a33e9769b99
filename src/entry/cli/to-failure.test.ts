import { describe, expect, it } from 'vitest';
import { SchemaError } from '../../adapters/postgres/db/schema-error.ts';
import { failureCatalog, type FailureCode } from '../../domain/failure-catalog.ts';
import { Failure } from '../../domain/failure.ts';
import { SettingsError } from '../settings-error.ts';
import { toFailure } from './to-failure.ts';

const detailsOf = (error: unknown) => toFailure(error)?.details;

describe('toFailure', () => {
  it.each([
    ['not_found', 1],
    ['invalid_request', 2],
    ['scope_missing', 3],
    ['unavailable', 4],
    ['topology_mismatch', 4],
  ] as const)('maps the failure %s to exit code %i', (code, exitCode) => {
    expect(detailsOf(new Failure(code, 'It happened.'))).toMatchObject({ code, detail: 'It happened.', exitCode });
  });

  it('gives operators a remedy that does not refer to requests', () => {
    for (const code of ['not_found', 'invalid_request', 'unavailable'] satisfies FailureCode[])
      expect(detailsOf(new Failure(code, 'x'))?.remedy).not.toBe(failureCatalog[code].remedy);
  });

  it('lists settings with their purpose and an example', () => {
    const error = new SettingsError([
      { variable: 'INLET_API_PORT', problem: 'must be a number', purpose: 'Port of the api.', example: '8080' },
    ]);
    expect(detailsOf(error)).toMatchObject({
      code: 'invalid_settings',
      exitCode: 2,
      more: ['INLET_API_PORT: must be a number', '  Port of the api.', '  Example: INLET_API_PORT=8080'],
      fields: [{ pointer: 'INLET_API_PORT', detail: 'must be a number' }],
    });
  });

  it('tells the operator to migrate before the first command', () => {
    expect(detailsOf(new SchemaError('The databases are not set up yet. Run `inlet migrate`.'))).toMatchObject({
      code: 'not_migrated',
      detail: 'The databases are not set up yet.',
      remedy: 'Run `inlet migrate`.',
    });
  });

  it('maps an unusable server to exit code 4 and refers to `inlet doctor`', () => {
    const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
    expect(detailsOf(refused)).toMatchObject({
      code: 'unavailable',
      exitCode: 4,
      detail: expect.stringContaining('ECONNREFUSED') as unknown,
    });
    expect(detailsOf(Object.assign(new Error('password authentication failed'), { code: '28P01' }))).toMatchObject({
      exitCode: 4,
      remedy: 'Run `inlet doctor` to find the cause.',
    });
  });

  it('leaves unexpected errors to the caller', () => {
    expect(toFailure(new TypeError('x is not a function'))).toBeNull();
  });
});
