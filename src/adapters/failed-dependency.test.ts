import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { ClickHouseError, createClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { Failure } from '../domain/failure.ts';
import { parseNetwork } from '../domain/network-address.ts';
import { Secret } from '../domain/secret.ts';
import { abortStalled } from './clickhouse/abort-stalled.ts';
import { attemptFailureOf, blame, blaming } from './failed-dependency.ts';
import { guardedAgents } from './guarded-agents.ts';
import { connectS3 } from './s3/connect.ts';
import { IdentityError } from './transient-errors.ts';

const refused = (): Error => Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:9000'), { code: 'ECONNREFUSED' });
const nested = (cause: unknown): Error => new Error('outer', { cause });

describe('the failure of an attempt', () => {
  it.each([
    ['a refused connection to a known server', blame('clickhouse', refused()), 'unavailable', 'clickhouse'],
    ['a refused connection to an unknown server', refused(), 'unavailable', null],
    ['an error of a dependency as a nested cause', nested(blame('storage', refused())), 'unavailable', 'storage'],
    [
      'PostgreSQL out of connections',
      Object.assign(new Error('x'), { code: '53300', severity: 'FATAL' }),
      'unavailable',
      'postgresql',
    ],
    [
      'a PostgreSQL pool without a free connection',
      new Error('timeout exceeded when trying to connect'),
      'unavailable',
      'postgresql',
    ],
    [
      'a process without an AWS identity',
      blame('storage', new IdentityError(new Error('x'))),
      'unavailable',
      'aws_credentials',
    ],
    [
      'replicas that are behind',
      new Failure('replicas_behind', 'x', { cause: refused() }),
      'replicas_behind',
      'clickhouse',
    ],
    ['a shared bucket that is not the recorded one', new Failure('bucket_mismatch', 'x'), 'bucket_mismatch', 'storage'],
    [
      'credentials that cannot be decrypted',
      new Failure('credentials_unreadable', 'x'),
      'credentials_unreadable',
      null,
    ],
    [
      'an invalid statement',
      blame('clickhouse', new ClickHouseError({ message: 'x', code: '62', type: 'SYNTAX_ERROR' })),
      'internal',
      'clickhouse',
    ],
    ['a programming error', new TypeError('x is not a function'), 'internal', null],
    ['a value that is not an error', 'text', 'internal', null],
  ])('has a stable code and the dependency: %s', (_what, error, code, dependency) => {
    expect(attemptFailureOf(error)).toEqual({ code, dependency });
  });

  it('contains no part of the error itself', () => {
    const error = blame('partner_storage', new Failure('storage_address_refused', 's3://private-bucket/key AKIA…'));
    expect(JSON.stringify(attemptFailureOf(error))).toBe(
      '{"code":"storage_address_refused","dependency":"partner_storage"}',
    );
  });

  it('stops at a fixed depth when an error is its own cause', () => {
    const error = new Error('a');
    error.cause = error;
    expect(attemptFailureOf(error)).toEqual({ code: 'internal', dependency: null });
  });
});

describe('the dependency that is to blame', () => {
  it('is the first one that is recorded, which is the innermost', async () => {
    const error = refused();
    const insert = blaming('clickhouse', () => blaming('storage', () => Promise.reject(error)));
    await expect(insert).rejects.toBe(error);
    expect(attemptFailureOf(error)).toEqual({ code: 'unavailable', dependency: 'storage' });
  });

  const location = { endpoint: 'http://127.0.0.1:9', region: 'eu-central-1' };
  const keys = { accessKeyId: 'a', secretAccessKey: new Secret('b') };
  const network = parseNetwork('127.0.0.0/8');
  const networks = network ? [network] : [];

  it.each([
    ['the shared storage', undefined, 'storage'],
    ["a partner's own storage", guardedAgents(networks), 'partner_storage'],
  ] as const)('is known for a request to %s', async (_what, guarded, dependency) => {
    const client = connectS3({ ...location, ...keys }, guarded);
    const error: unknown = await client
      .send(new ListObjectsV2Command({ Bucket: 'b' }))
      .catch((reason: unknown) => reason);
    expect(attemptFailureOf(error)).toEqual({ code: 'unavailable', dependency });
    client.destroy();
  });

  it('is known for a ClickHouse statement', async () => {
    const server = createClient({ url: 'http://127.0.0.1:9' });
    const error: unknown = await abortStalled(server, server)
      .command({ query: 'SELECT 1' })
      .catch((reason: unknown) => reason);
    expect(attemptFailureOf(error)).toEqual({ code: 'unavailable', dependency: 'clickhouse' });
    await server.close();
  });
});
