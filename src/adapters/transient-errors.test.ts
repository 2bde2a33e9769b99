import { S3ServiceException } from '@aws-sdk/client-s3';
import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { Failure } from '../domain/failure.ts';
import { transientErrorKind } from './transient-errors.ts';

const coded = (code: string, message = 'x'): Error => Object.assign(new Error(message), { code });
const answer = (httpStatusCode: number): Error =>
  new S3ServiceException({ name: 'SlowDown', $fault: 'server', $metadata: { httpStatusCode } });
const ofEngine = (type: string, message = 'x'): Error => new ClickHouseError({ message, code: '1', type });

describe('an error', () => {
  it.each([
    ['a refused connection', coded('ECONNREFUSED')],
    ['a PostgreSQL that is stopped', coded('57P01')],
    ['a PostgreSQL without a free connection', coded('53300')],
    ['a PostgreSQL without room', coded('53100')],
    ['a pool that got no connection', new Error('timeout exceeded when trying to connect')],
    ['an engine that cannot reach its shard', ofEngine('ALL_CONNECTION_TRIES_FAILED')],
    ['an engine without room', ofEngine('NOT_ENOUGH_SPACE')],
    [
      'an engine whose disk is full',
      ofEngine('CANNOT_WRITE_TO_FILE_DESCRIPTOR', 'Cannot write, errno: 28, strerror: No space left on device'),
    ],
    ['a storage that wants us to slow down', answer(503)],
    ['any of these as a cause', new Error('outer', { cause: new Error('inner', { cause: coded('EAI_AGAIN') }) })],
  ])('says that a server is away: %s', (_what, error) => {
    expect(transientErrorKind(error)).toBe('away');
  });

  it.each([
    ['a connection that was reset', coded('ECONNRESET', 'socket hang up')],
    ['a body that ends early', new Error('aborted')],
    ['a statement that PostgreSQL ended', coded('57014')],
    ['a rollback after we gave a statement up', new Error('Client was closed and is not queryable')],
    ['a connection that PostgreSQL does not take up', new Error('timeout expired')],
    ['a statement that the engine ended', ofEngine('QUERY_WAS_CANCELLED')],
    ['a storage that does not know what happened', answer(500)],
  ])('says that a connection broke: %s', (_what, error) => {
    expect(transientErrorKind(error)).toBe('broke');
  });

  it.each([
    ['a failure of the partner', new Failure('corrupt_gzip', 'x', { cause: ofEngine('ZLIB_INFLATE_FAILED') })],
    ['a statement that is wrong', ofEngine('SYNTAX_ERROR')],
    ['a row that is there already', coded('23505')],
    ['a storage that refuses', answer(403)],
    ['a mistake of ours', new TypeError('x is not a function')],
    ['no error at all', 'text'],
  ])('says neither: %s', (_what, error) => {
    expect(transientErrorKind(error)).toBeNull();
  });

  it('whose causes have no end is looked at to some depth', () => {
    const error = new Error('a');
    error.cause = error;
    expect(transientErrorKind(error)).toBeNull();
  });
});
