import { describe, expect, it } from 'vitest';
import { pathType } from '../../src/domain/import-log.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { ImportLogStore, NewImport } from '../../src/ports/import-log-store.ts';
import { queueImport } from '../../src/usecases/accept/queue-import.ts';
import { hostile, hostileSources } from './sources.ts';

const partner = { id: 1, name: 'acme', prefix: 'acme/' };
const credentials = { accessKeyId: 'KEY', secretAccessKey: new Secret('secret'), region: 'eu-west-1' };

/** Returns the failure code of a request that is rejected before any connection, or "accepted". */
async function submit(changes: Partial<NewImport>): Promise<string> {
  let isSubmitted = false;
  const submitImport: ImportLogStore['submitImport'] = async () => {
    isSubmitted = true;
    return 1;
  };
  const unused = (): never => {
    throw new Error('unexpected call');
  };
  const importLogs: ImportLogStore = {
    submitImport,
    submitDelete: unused,
    cancel: unused,
    findSubmitted: unused,
    find: unused,
    marksOf: unused,
    listNewest: unused,
    listFiles: unused,
  };
  const request: NewImport = {
    filePath: 's3://own-bucket/in/a.csv',
    pathType: pathType.partnerBucket,
    keyType: 1,
    compressed: true,
    mode: 'merge',
    credentials,
    ...changes,
  };
  try {
    await queueImport({ importLogs, limits: defaultLimits, canAssumeRoles: true }, partner, request);
    return isSubmitted ? 'accepted' : 'lost';
  } catch (error) {
    if (isSubmitted) return 'submitted and rejected';
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

const shared = { pathType: pathType.sharedBucket, credentials: null };
const named = ({ value }: { value: string }): string => JSON.stringify(value);

describe('the corpus of hostile sources', () => {
  it('the corpus of hostile sources has at least 300 unique entries, each with a reason', () => {
    expect(hostileSources.length).toBeGreaterThanOrEqual(300);
    expect(new Set(hostileSources.map(({ kind, value }) => `${kind} ${value}`)).size).toBe(hostileSources.length);
  });
});

describe('hostile requests', () => {
  it.each(hostile('source', 'rejected').map((entry) => [named(entry), entry.value]))(
    'rejects %s before any connection',
    async (_name, value) => {
      expect(await submit({ filePath: value })).toBe('invalid_file_path');
    },
  );

  it.each(hostile('bucket', 'rejected').map((entry) => [named(entry), entry.value]))(
    'rejects the bucket %s before any connection',
    async (_name, value) => {
      expect(await submit({ filePath: `s3://${value}/in/a.csv` })).toBe('invalid_file_path');
    },
  );

  it.each(hostile('region', 'rejected').map((entry) => [named(entry), entry.value]))(
    'rejects the region %s before any connection',
    async (_name, value) => {
      expect(await submit({ credentials: { ...credentials, region: value } })).toBe('invalid_region');
    },
  );

  it.each(hostile('role', 'rejected').map((entry) => [named(entry), entry.value]))(
    'rejects the role %s before any connection',
    async (_name, value) => {
      expect(await submit({ credentials: { roleArn: value, region: 'eu-west-1' } })).toBe('invalid_role_arn');
    },
  );

  it('rejects every hostile region with a role before any connection', async () => {
    const roleArn = 'arn:aws:iam::123456789012:role/inlet';
    for (const { value } of hostile('region', 'rejected')) {
      expect(await submit({ credentials: { roleArn, region: value } }), value).toBe('invalid_region');
    }
  });

  it.each(hostile('path', 'rejected').map((entry) => [named(entry), entry.value]))(
    'rejects the path %s in the shared bucket and in a partner-owned bucket before any connection',
    async (_name, value) => {
      expect(await submit({ ...shared, filePath: value })).toBe('invalid_file_path');
      // The root of a partner's own bucket is a valid path.
      const expected = value === '' ? 'accepted' : 'invalid_file_path';
      expect(await submit({ filePath: `s3://own-bucket/${value}` })).toBe(expected);
    },
  );
});

describe('legitimate requests that resemble an attack', () => {
  it.each(hostile('role', 'accepted').map((entry) => [named(entry), entry.value]))(
    'accepts the role %s, which only resembles an attack',
    async (_name, value) => {
      expect(await submit({ credentials: { roleArn: value, region: 'eu-west-1' } })).toBe('accepted');
    },
  );

  it.each(hostile('bucket', 'accepted').map((entry) => [named(entry), entry.value]))(
    'accepts the bucket %s, which only resembles an attack',
    async (_name, value) => {
      expect(await submit({ filePath: `s3://${value}/in/a.csv` })).toBe('accepted');
    },
  );

  it.each(hostile('path', 'accepted').map((entry) => [named(entry), entry.value]))(
    'accepts the path %s, which only resembles an attack',
    async (_name, value) => {
      expect(await submit({ ...shared, filePath: value })).toBe('accepted');
      expect(await submit({ filePath: `s3://own-bucket/${value}` })).toBe('accepted');
    },
  );
});
