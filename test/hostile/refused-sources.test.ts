import { describe, expect, it } from 'vitest';
import { pathType } from '../../src/domain/import-log.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { ImportLogStore, NewImport } from '../../src/ports/import-log-store.ts';
import { queueImport } from '../../src/usecases/accept/queue-import.ts';
import { hostile, hostileSources } from './sources.ts';

const partner = { id: 1, name: 'acme', prefix: 'acme/' };
const credentials = { accessKeyId: 'KEY', secretAccessKey: new Secret('secret'), region: 'eu-west-1' };

/** What becomes of a request before anything is connected to: its code, or "taken". */
async function fateOf(changes: Partial<NewImport>): Promise<string> {
  let isSubmitted = false;
  const submitImport: ImportLogStore['submitImport'] = async () => {
    isSubmitted = true;
    return 1;
  };
  const unused = (): never => {
    throw new Error('only submitting is of interest here');
  };
  const importLogs: ImportLogStore = {
    submitImport,
    submitDelete: unused,
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
    return isSubmitted ? 'taken' : 'lost';
  } catch (error) {
    if (isSubmitted) return 'submitted and refused';
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

const shared = { pathType: pathType.sharedBucket, credentials: null };
const named = ({ value }: { value: string }): string => JSON.stringify(value);

describe('the corpus of hostile sources', () => {
  it('has at least 300 entries, none of them twice, each with its reason', () => {
    expect(hostileSources.length).toBeGreaterThanOrEqual(300);
    expect(new Set(hostileSources.map(({ kind, value }) => `${kind} ${value}`)).size).toBe(hostileSources.length);
  });
});

describe('a request is refused before anything is connected to', () => {
  it.each(hostile('source', 'refused').map((entry) => [named(entry), entry.value]))('for %s', async (_name, value) => {
    expect(await fateOf({ filePath: value })).toBe('invalid_file_path');
  });

  it.each(hostile('bucket', 'refused').map((entry) => [named(entry), entry.value]))(
    'for the bucket %s',
    async (_name, value) => {
      expect(await fateOf({ filePath: `s3://${value}/in/a.csv` })).toBe('invalid_file_path');
    },
  );

  it.each(hostile('region', 'refused').map((entry) => [named(entry), entry.value]))(
    'for the region %s',
    async (_name, value) => {
      expect(await fateOf({ credentials: { ...credentials, region: value } })).toBe('invalid_region');
    },
  );

  it.each(hostile('role', 'refused').map((entry) => [named(entry), entry.value]))(
    'for the role %s',
    async (_name, value) => {
      expect(await fateOf({ credentials: { roleArn: value, region: 'eu-west-1' } })).toBe('invalid_role_arn');
    },
  );

  it('for every hostile region beside a role', async () => {
    const roleArn = 'arn:aws:iam::123456789012:role/inlet';
    for (const { value } of hostile('region', 'refused')) {
      expect(await fateOf({ credentials: { roleArn, region: value } }), value).toBe('invalid_region');
    }
  });

  it.each(hostile('path', 'refused').map((entry) => [named(entry), entry.value]))(
    'for the path %s, in the shared bucket and in an own one',
    async (_name, value) => {
      expect(await fateOf({ ...shared, filePath: value })).toBe('invalid_file_path');
      expect(await fateOf({ filePath: `s3://own-bucket/${value}` })).toBe('invalid_file_path');
    },
  );
});

describe('a request is taken that only looks hostile', () => {
  it.each(hostile('role', 'taken').map((entry) => [named(entry), entry.value]))(
    'for the role %s',
    async (_name, value) => {
      expect(await fateOf({ credentials: { roleArn: value, region: 'eu-west-1' } })).toBe('taken');
    },
  );

  it.each(hostile('bucket', 'taken').map((entry) => [named(entry), entry.value]))(
    'for the bucket %s',
    async (_name, value) => {
      expect(await fateOf({ filePath: `s3://${value}/in/a.csv` })).toBe('taken');
    },
  );

  it.each(hostile('path', 'taken').map((entry) => [named(entry), entry.value]))(
    'for the path %s',
    async (_name, value) => {
      expect(await fateOf({ ...shared, filePath: value })).toBe('taken');
      expect(await fateOf({ filePath: `s3://own-bucket/${value}` })).toBe('taken');
    },
  );
});
