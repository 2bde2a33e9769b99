import { S3ServiceException } from '@aws-sdk/client-s3';
import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { Failure } from '../domain/failure.ts';
import { IdentityError, isOutage, transientErrorKind } from './transient-errors.ts';

const coded = (code: string, message = 'x'): Error => Object.assign(new Error(message), { code });
const answer = (httpStatusCode: number): Error =>
  new S3ServiceException({ name: 'SlowDown', $fault: 'server', $metadata: { httpStatusCode } });
const ofEngine = (type: string, message = 'x'): Error => new ClickHouseError({ message, code: '1', type });

describe('transientErrorKind', () => {
  it.each([
    ['a refused connection', coded('ECONNREFUSED')],
    ['PostgreSQL shutting down', coded('57P01')],
    ['PostgreSQL out of connections', coded('53300')],
    ['PostgreSQL out of disk space', coded('53100')],
    ['a pool timeout', new Error('timeout exceeded when trying to connect')],
    ['ClickHouse unable to reach a shard', ofEngine('ALL_CONNECTION_TRIES_FAILED')],
    ['ClickHouse without enough space', ofEngine('NOT_ENOUGH_SPACE')],
    [
      'ClickHouse with a full disk',
      ofEngine('CANNOT_WRITE_TO_FILE_DESCRIPTOR', 'Cannot write, errno: 28, strerror: No space left on device'),
    ],
    [
      'ClickHouse out of memory for all statements',
      ofEngine('MEMORY_LIMIT_EXCEEDED', '(total) memory limit exceeded: would use 6.00 GiB'),
    ],
    ['shards that differ from the recorded topology', new Failure('topology_mismatch', 'x')],
    ['storage that throttles requests', answer(503)],
    [
      'a process without an AWS identity',
      new IdentityError(Object.assign(new Error('no providers'), { name: 'CredentialsProviderError' })),
    ],
    [
      'any of these as a nested cause',
      new Error('outer', { cause: new Error('inner', { cause: coded('EAI_AGAIN') }) }),
    ],
  ])('classifies as unavailable: %s', (_what, error) => {
    expect(transientErrorKind(error)).toBe('away');
  });

  it.each([
    ['a reset connection', coded('ECONNRESET', 'socket hang up')],
    ['a truncated body', new Error('aborted')],
    ['a statement canceled by PostgreSQL', coded('57014')],
    ['a rollback on a closed client', new Error('Client was closed and is not queryable')],
    ['a PostgreSQL connection timeout', new Error('timeout expired')],
    ['a statement canceled by ClickHouse', ofEngine('QUERY_WAS_CANCELLED')],
    ['an internal storage error', answer(500)],
  ])('classifies as a broken connection: %s', (_what, error) => {
    expect(transientErrorKind(error)).toBe('broke');
  });

  it.each([
    ['a failure caused by the file', new Failure('corrupt_gzip', 'x', { cause: ofEngine('ZLIB_INFLATE_FAILED') })],
    ['an invalid statement', ofEngine('SYNTAX_ERROR')],
    ['a unique violation', coded('23505')],
    ['storage that denies access', answer(403)],
    ['a programming error', new TypeError('x is not a function')],
    ['a value that is not an error', 'text'],
  ])('classifies as not transient: %s', (_what, error) => {
    expect(transientErrorKind(error)).toBeNull();
  });

  it.each([
    ['a dependency that is unavailable', coded('ECONNREFUSED'), true],
    ['an internal storage error', answer(500), true],
    ['an internal storage error as a nested cause', new Error('outer', { cause: answer(500) }), true],
    ['a request that the storage does not support', answer(501), false],
    ['a connection that was lost during the request', coded('ECONNRESET'), false],
    ['storage that denies access', answer(403), false],
    ['a programming error', new TypeError('x is not a function'), false],
  ])('distinguishes an outage from other errors: %s', (_what, error, expected) => {
    expect(isOutage(error)).toBe(expected);
  });

  it('stops at a fixed depth when an error is its own cause', () => {
    const error = new Error('a');
    error.cause = error;
    expect(transientErrorKind(error)).toBeNull();
    expect(isOutage(error)).toBe(false);
  });
});
