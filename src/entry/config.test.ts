import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultProtection } from '../domain/composition/protection.ts';
import { defaultLimits } from '../domain/limits.ts';
import type { z } from 'zod';
import { settingExamples } from './setting-examples.ts';
import { exampleOf, messageOfIssue } from './setting-problems.ts';
import { configSchema, limitsOf, partnerNetworksOf, protectionOf, readConfig } from './config.ts';

const secrets = {
  INLET_POSTGRES_URL: 'postgres://inlet:pg-hunter2@db/inlet',
  INLET_CLICKHOUSE_URLS: 'http://inlet:ch-hunter2@one:8123, http://inlet:ch-hunter3@two:8123',
  INLET_S3_SECRET_ACCESS_KEY: 's3-hunter2',
  INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY: 'admin-hunter2',
  INLET_SEALING_KEYS: `k1:${'ab'.repeat(32)}`,
};
const needed = {
  ...secrets,
  INLET_CLICKHOUSE_CLUSTER: 'inlet',
  INLET_S3_BUCKET: 'uploads',
  INLET_S3_ACCESS_KEY_ID: 'OWNER',
};

function setEnvironment(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

function exampleOfDefault(schema: z.ZodType): string | null {
  const { data, success } = schema.safeParse(undefined);
  return success ? String(data) : null;
}

function problemOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    return inspect(error, { depth: Infinity, showHidden: true });
  }
  throw new Error('the configuration was accepted');
}

describe('the configuration', () => {
  beforeEach(() => {
    for (const name of [...Object.keys(configSchema.shape), 'INLET_POSTGRES_URL_FILE']) vi.stubEnv(name, undefined);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('accepts networks for partner-owned buckets and allows none by default', () => {
    setEnvironment(needed);
    expect(partnerNetworksOf(readConfig())).toEqual([]);
    vi.stubEnv('INLET_PARTNER_S3_NETWORKS', '10.1.2.0/24, fd00:1::/32');
    expect(partnerNetworksOf(readConfig())).toHaveLength(2);
    for (const wrong of ['10.1.2.1/24', 'all', '10.1.2.0/24,', '*', '0']) {
      vi.stubEnv('INLET_PARTNER_S3_NETWORKS', wrong);
      expect(problemOf(readConfig), wrong).toContain('INLET_PARTNER_S3_NETWORKS');
    }
  });

  it('requires only addresses, names, and credentials', () => {
    setEnvironment(needed);
    const config = readConfig();
    expect(config).toMatchObject({
      INLET_CLICKHOUSE_DATABASE: 'inlet',
      INLET_S3_REGION: 'us-east-1',
      INLET_API_HOST: '127.0.0.1',
      INLET_API_PORT: 8080,
      INLET_LOG_LEVEL: 'info',
      INLET_WORKER_LANES: 8,
      INLET_WORKER_FILES: 4,
      INLET_FILES_OUT_PER_LANE: 4,
      INLET_SHUTDOWN_GRACE_SECONDS: 30,
    });
    expect(config.INLET_S3_ENDPOINT).toBeUndefined();
    expect(limitsOf(config)).toEqual(defaultLimits);
    expect(protectionOf(config)).toEqual(defaultProtection);
  });

  it('reads secrets and one address per shard', () => {
    setEnvironment(needed);
    const config = readConfig();
    expect(config.INLET_POSTGRES_URL.reveal()).toBe(secrets.INLET_POSTGRES_URL);
    expect(config.INLET_CLICKHOUSE_URLS.flat().map((url) => url.reveal())).toEqual([
      'http://inlet:ch-hunter2@one:8123',
      'http://inlet:ch-hunter3@two:8123',
    ]);
    expect(config.INLET_S3_SECRET_ACCESS_KEY?.reveal()).toBe('s3-hunter2');
    expect(config.INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY?.reveal()).toBe('admin-hunter2');
  });

  it('parses numbers and limits', () => {
    setEnvironment({
      ...needed,
      INLET_API_PORT: '0',
      INLET_MAX_LINE_BYTES: '10',
      INLET_MAX_FILES_PER_PREFIX: '20',
      INLET_MAX_GZIP_FILE_BYTES: '30',
      INLET_MAX_PLAIN_FILE_BYTES: '40',
      INLET_MAX_OPEN_JOBS: '50',
    });
    const config = readConfig();
    expect(config.INLET_API_PORT).toBe(0);
    expect(limitsOf(config)).toEqual({
      maxLineBytes: 10,
      maxFilesPerPrefix: 20,
      maxGzipFileBytes: 30,
      maxPlainFileBytes: 40,
      maxOpenJobs: 50,
    });
  });

  it('accepts a report key and allows each protection to be disabled', () => {
    setEnvironment({
      ...needed,
      INLET_REPORT_HIDE_UNDER: '0',
      INLET_REPORT_FLAG_UNDER: '0',
      INLET_REPORT_NOISE: '0',
      INLET_REPORT_ROUND_TO: '0',
      INLET_REPORT_KEY: 'ab'.repeat(32),
    });
    const config = readConfig();
    expect(protectionOf(config)).toEqual({ hideUnder: 0, flagUnder: 0, noise: 0, roundTo: 0 });
    expect(config.INLET_REPORT_KEY?.reveal()).toBe('ab'.repeat(32));
    setEnvironment({ INLET_REPORT_KEY: 'too short', INLET_REPORT_NOISE: '-1' });
    expect(problemOf(readConfig)).toMatch(/INLET_REPORT_NOISE: [\s\S]*INLET_REPORT_KEY: must be 64/);
  });

  it.each(['INLET_S3', 'INLET_ROLE'])('accepts both halves of the access key %s or neither', (prefix) => {
    const { INLET_S3_ACCESS_KEY_ID: _id, INLET_S3_SECRET_ACCESS_KEY: _secret, ...rest } = needed;
    setEnvironment(rest);
    expect(readConfig().INLET_S3_ACCESS_KEY_ID).toBeUndefined();
    vi.stubEnv(`${prefix}_ACCESS_KEY_ID`, 'KEY');
    expect(problemOf(readConfig)).toContain(
      `${prefix}_SECRET_ACCESS_KEY: is required, because ${prefix}_ACCESS_KEY_ID is set`,
    );
    vi.stubEnv(`${prefix}_SECRET_ACCESS_KEY`, 'hunter2');
    expect(readConfig()[`${prefix === 'INLET_S3' ? 'INLET_S3' : 'INLET_ROLE'}_ACCESS_KEY_ID`]).toBe('KEY');
    vi.stubEnv(`${prefix}_ACCESS_KEY_ID`, undefined);
    expect(problemOf(readConfig)).toContain(`${prefix}_ACCESS_KEY_ID: is required`);
    expect(problemOf(readConfig)).not.toContain('hunter2');
  });

  it('requires a storage access key if Inlet sets up the storage notifications', () => {
    const { INLET_S3_ACCESS_KEY_ID: _id, INLET_S3_SECRET_ACCESS_KEY: _secret, ...rest } = needed;
    const ceph = { INLET_S3_ENDPOINT: 'http://storage:7480', INLET_NOTIFICATIONS_URL: 'http://worker:9470' };
    setEnvironment({ ...rest, ...ceph });
    expect(problemOf(readConfig)).toContain('INLET_S3_ACCESS_KEY_ID: is required, because INLET_NOTIFICATIONS_URL is');
    setEnvironment({ ...needed, ...ceph });
    expect(readConfig().INLET_NOTIFICATIONS_URL).toBe('http://worker:9470');
  });

  it('requires HTTPS for notifications from Amazon EventBridge', () => {
    const { INLET_S3_ACCESS_KEY_ID: _id, INLET_S3_SECRET_ACCESS_KEY: _secret, ...rest } = needed;
    setEnvironment({ ...rest, INLET_NOTIFICATIONS_URL: 'http://inlet.example' });
    expect(problemOf(readConfig)).toContain('INLET_NOTIFICATIONS_URL: must begin with https://');
    setEnvironment({ ...rest, INLET_NOTIFICATIONS_URL: 'https://inlet.example' });
    expect(readConfig().INLET_NOTIFICATIONS_URL).toBe('https://inlet.example');
  });

  it('reports all missing settings at once', () => {
    const problem = problemOf(readConfig);
    const required = Object.keys(needed).filter((name) => !/^INLET_(?:STORAGE_ADMIN|S3)_.*KEY/.test(name));
    for (const name of required) expect(problem).toContain(`${name}: `);
    expect(problem).toContain('docs/configuration.md');
  });

  it('reports all invalid settings together with the missing ones', () => {
    const wrong = {
      INLET_S3_ENDPOINT: 'not a URL',
      INLET_S3_BUCKET: 'ab',
      INLET_API_PORT: '65536',
      INLET_LOG_LEVEL: 'loud',
      INLET_WORKER_LANES: '0',
      INLET_WORKER_FILES: 'four',
      INLET_MAX_OPEN_JOBS: '1.5',
      INLET_MAX_LINE_BYTES: '-1',
      INLET_POSTGRES_URL: '',
    };
    const { INLET_CLICKHOUSE_CLUSTER: _missing, ...rest } = needed;
    setEnvironment({ ...rest, ...wrong });
    const problem = problemOf(readConfig);
    const named = Array.from(problem.matchAll(/^ {2}(INLET_\w+): \S/gm), ([, name = '']) => name);
    expect(named.toSorted()).toEqual([...Object.keys(wrong), 'INLET_CLICKHOUSE_CLUSTER'].toSorted());
  });

  it.each(['shard1:8123', 'http://one:8123,shard2:8123'])('reports the malformed list of shards %s', (urls) => {
    setEnvironment({ ...needed, INLET_CLICKHOUSE_URLS: urls });
    expect(problemOf(readConfig)).toContain(
      'INLET_CLICKHOUSE_URLS: must be a URL that starts with http:// or https://',
    );
  });

  it('names the purpose of each setting and an example', () => {
    const { INLET_POSTGRES_URL: _url, ...rest } = needed;
    setEnvironment({ ...rest, INLET_API_PORT: 'http', INLET_LOG_LEVEL: 'loud' });
    expect(readConfig).toThrow(
      [
        'Invalid configuration (see docs/configuration.md):',
        '  INLET_POSTGRES_URL: is not set',
        '    URL of the PostgreSQL control plane, including user and password.',
        '    Example: INLET_POSTGRES_URL=postgres://inlet:<password>@postgres.example.com:5432/inlet',
        '  INLET_API_PORT: must be a number',
        '    API port. 0 selects a free port.',
        '    Example: INLET_API_PORT=8080',
        '  INLET_LOG_LEVEL: must be one of debug, info, warn, or error',
        '    Minimum level of log messages.',
        '    Example: INLET_LOG_LEVEL=info',
      ].join('\n'),
    );
  });

  it.each(['', '-1', '1.5', 'x y', '999999999999', 'http://', '*,*'])(
    "uses Inlet's own wording for every setting that rejects %j",
    (value) => {
      const schema = configSchema.safeParse(
        Object.fromEntries(Object.keys(configSchema.shape).map((name) => [name, value])),
        { error: messageOfIssue },
      );
      expect(schema.error?.issues.length).toBeGreaterThan(20);
      for (const { message } of schema.error?.issues ?? []) {
        expect(message).toMatch(/^(?:must |is |cannot )/);
        expect(message).not.toMatch(/expected|invalid|NaN|undefined/i);
      }
    },
  );

  it.each(Object.entries(configSchema.shape))('has an example for %s', (name, schema) => {
    expect(exampleOf(name, schema)).toMatch(/\S/);
    expect(Object.hasOwn(settingExamples, name)).toBe([null, 'undefined'].includes(exampleOfDefault(schema)));
  });

  it('reports an unreadable secret file together with other mistakes', () => {
    const { INLET_POSTGRES_URL: _url, ...rest } = needed;
    setEnvironment({ ...rest, INLET_POSTGRES_URL_FILE: '/nowhere/url', INLET_API_PORT: '65536' });
    const problem = problemOf(readConfig);
    expect(problem).toContain('INLET_POSTGRES_URL_FILE: cannot read the file /nowhere/url (ENOENT)');
    expect(problem).toContain('INLET_API_PORT: ');
    expect(problem).not.toContain('INLET_POSTGRES_URL: ');
  });

  it('never includes a secret in an error message', () => {
    setEnvironment({ ...secrets, INLET_LOG_LEVEL: 'loud', INLET_S3_ENDPOINT: 'hunter2 is not a URL' });
    expect(problemOf(readConfig)).not.toContain('hunter');
  });

  it('never prints a secret', () => {
    setEnvironment(needed);
    const config = readConfig();
    expect(inspect(config, { depth: Infinity, showHidden: true }) + JSON.stringify(config)).not.toContain('hunter');
  });

  it.each(Object.entries(configSchema.shape))('has a description for %s', (_name, schema) => {
    expect(schema.description).toMatch(/\.$/);
  });
});
