import { describe, expect, it } from 'vitest';
import { Failure } from '../../domain/failure.ts';
import { pathType } from '../../domain/import-log.ts';
import { defaultLimits } from '../../domain/limits.ts';
import { Secret } from '../../domain/secret.ts';
import type { ImportLogStore, NewImport } from '../../ports/import-log-store.ts';
import { queueImport } from './queue-import.ts';

const partner = { id: 1, name: 'acme', prefix: 'acme/' };
const keys = { accessKeyId: 'KEY', secretAccessKey: new Secret('secret'), region: 'eu-west-1' };
const wrongRole = { roleArn: 'inlet', region: 'moon-1' };
const own = { pathType: pathType.partnerBucket, filePath: 's3://own-bucket/in/a.csv', credentials: keys };

const unused = (): never => {
  throw new Error('nothing must be stored');
};
const importLogs: ImportLogStore = {
  submitImport: unused,
  submitDelete: unused,
  cancel: unused,
  findSubmitted: unused,
  find: unused,
  marksOf: unused,
  listNewest: unused,
  listFiles: unused,
};

/** Returns the code of a rejected import and the fields that the failure names. */
async function failureOf(changes: Partial<NewImport>, canAssumeRoles = true): Promise<string[]> {
  const request: NewImport = {
    filePath: 'in/a.csv',
    pathType: pathType.sharedBucket,
    keyType: 1,
    compressed: null,
    mode: 'merge',
    credentials: null,
    ...changes,
  };
  const queueing = queueImport({ importLogs, limits: defaultLimits, canAssumeRoles }, partner, request);
  const error: unknown = await queueing.catch((reason: unknown) => reason);
  if (!(error instanceof Failure)) throw error;
  return [error.code, ...error.fields.map(({ pointer }) => pointer)];
}

describe('an import with invalid fields', () => {
  it.each([
    ['a path', { filePath: '../a.csv' }, ['invalid_file_path', '/file_path']],
    ['compressed', { filePath: 'in/' }, ['compressed_required', '/compressed']],
    ['unexpected credentials', { credentials: keys }, ['credentials_not_allowed', '/credentials']],
    ['missing credentials', { ...own, credentials: null }, ['credentials_required', '/credentials']],
    ['a region', { ...own, credentials: { ...keys, region: 'moon-1' } }, ['invalid_region', '/credentials/region']],
    [
      'a role',
      { ...own, credentials: { ...wrongRole, region: 'eu-west-1' } },
      ['invalid_role_arn', '/credentials/roleArn'],
    ],
  ])('rejects an import with an invalid field: %s', async (_name, changes, expected) => {
    expect(await failureOf(changes)).toEqual(expected);
  });

  it('reports all invalid fields at once, with the code and detail of the first', async () => {
    expect(await failureOf({ filePath: '/in/', credentials: keys })).toEqual([
      'invalid_file_path',
      '/file_path',
      '/credentials',
      '/compressed',
    ]);
    expect(await failureOf({ ...own, filePath: 'in/', credentials: wrongRole })).toEqual([
      'invalid_file_path',
      '/file_path',
      '/credentials/region',
      '/credentials/roleArn',
      '/compressed',
    ]);
  });

  it('reports an invalid role format before it reports that roles are not supported', async () => {
    expect(await failureOf({ ...own, credentials: wrongRole }, false)).toEqual([
      'invalid_region',
      '/credentials/region',
      '/credentials/roleArn',
    ]);
    const role = { roleArn: 'arn:aws:iam::123456789012:role/inlet', region: 'eu-west-1' };
    expect(await failureOf({ ...own, credentials: role }, false)).toEqual([
      'roles_not_available',
      '/credentials/roleArn',
    ]);
  });
});
