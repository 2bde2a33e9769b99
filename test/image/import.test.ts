import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { pickPort } from '../../stack/ports.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { device } from '../support/device-id.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { issuedSchema } from '../support/partners.ts';
import { createEmptyStores, type TestStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { inspectImage, podman, podmanOutput, runInImage, startInImage } from './containers.ts';

const checkSchema = z.tuple([z.object({ Healthcheck: z.object({ Test: z.array(z.string()) }) })]);
/** A script that reports the privileges of its container. */
const aboutItself = `const { readFileSync, writeFileSync } = require('node:fs');
const tried = ['/', '/inlet', '/tmp', '/run'].map((folder) => { try { writeFileSync(folder + '/x', ''); return 'written' } catch ({ code }) { return code } });
const status = readFileSync('/proc/1/status', 'utf8');
console.log(JSON.stringify({ tried, first: readFileSync('/proc/1/comm', 'utf8').trim(), user: /^Uid:\\s+(\\d+)/m.exec(status)[1],
  rights: /^CapEff:\\s+(\\w+)/m.exec(status)[1], noNewRights: /^NoNewPrivs:\\s+(\\d)/m.exec(status)[1] }))`;

describe('an import through the image', () => {
  const name = `image-${process.pid}`;
  const [api, worker] = [`${name}-api`, `${name}-worker`];
  let stores: TestStores;
  let settings: Record<string, string>;
  let url: string;
  let check: string[];
  let issued: z.infer<typeof issuedSchema>;

  const inlet = async (...command: string[]): Promise<string> => {
    const { code, out, stderr } = await runInImage(settings, ...command);
    if (code !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
    return out;
  };
  /** Runs the image's health check. */
  const isHealthy = async (container: string): Promise<boolean> =>
    (await podman(['exec', container, ...check])).code === 0;

  beforeAll(async () => {
    stores = await createEmptyStores('two');
    const [apiPort, apiMetrics] = [await pickPort([]), await pickPort([])];
    // The tests' compile cache does not exist inside the container.
    const { NODE_COMPILE_CACHE: _cache, ...environment } = stores.environment;
    settings = { ...environment, INLET_API_PORT: String(apiPort), INLET_METRICS_PORT: String(apiMetrics) };
    url = `http://127.0.0.1:${apiPort}`;
    const [{ Healthcheck }] = checkSchema.parse(JSON.parse(await inspectImage()));
    check = Healthcheck.Test.slice(1);
  });
  afterAll(async () => {
    await podman(['rm', '--force', '--time=0', api, worker]);
    await stores.drop();
  });

  it('migrates empty stores and creates a partner and an attribute', async () => {
    await inlet('migrate');
    issued = issuedSchema.parse(JSON.parse(await inlet('partner', 'create', name, '--json')));
    rememberSecrets(issued.api_key, issued.storage.secret_access_key);
    const made = await inlet(
      'attribute',
      'create',
      '--partner',
      name,
      '--name',
      'sports',
      '--foreign-key',
      'sports',
      '--json',
    );
    expect(JSON.parse(made)).toMatchObject({ name: 'sports' });
  });

  it('starts an API process and a worker that pass the health check', async () => {
    await startInImage(api, settings, 'api');
    await startInImage(worker, { ...settings, INLET_METRICS_PORT: String(await pickPort([])) }, 'worker');
    await waitUntil('the API is ready', async () => (await fetch(`${url}/health/ready`)).ok);
    await waitUntil('both are healthy', async () => (await isHealthy(api)) && isHealthy(worker));
    expect((await podman(['exec', '--env=INLET_METRICS_PORT=9', worker, ...check])).code, 'no process listens').toBe(1);
    expect(await inlet('doctor')).not.toContain('FAIL ');
  });

  it.each([
    ['api', api],
    ['worker', worker],
  ])('runs the %s without root, capabilities, or writable folders', async (_role, container) => {
    const itself: unknown = JSON.parse(await podmanOutput(['exec', container, 'node', '-e', aboutItself]));
    const readOnly = Array.from({ length: 4 }, () => 'EROFS');
    expect(itself).toEqual({ tried: readOnly, first: 'tini', user: '1000', rights: '0'.repeat(16), noNewRights: '1' });
  });

  it('loads a file of ten thousand rows and reports the invalid row', async () => {
    const { bucket, prefix, access_key_id, secret_access_key } = issued.storage;
    const s3 = connectS3({
      endpoint: stores.config.INLET_S3_ENDPOINT ?? null,
      region: stores.config.INLET_S3_REGION,
      accessKeyId: access_key_id,
      secretAccessKey: new Secret(secret_access_key),
    });
    const rows = Array.from({ length: 10_000 }, (_, index) => `${device(index + 1)},sports\n`);
    await s3.send(
      new PutObjectCommand({ Bucket: bucket, Key: `${prefix}rows.csv`, Body: `${rows.join('')}invalid,sports\n` }),
    );
    s3.destroy();
    const client = apiClient(url, issued.api_key);
    const record = await client.waitForEnd(await client.queue({ file_path: 'rows.csv', key_type: 1 }));
    expect(record).toMatchObject({ status: 2, total_rows: '10001', unique_devices: '10000' });
    expect(record.errors).toMatchObject([{ code: 'invalid_id', row: 10_001 }]);
  });

  it.each([
    ['worker', worker],
    ['api', api],
  ])('stops the %s gracefully', async (_role, container) => {
    await podmanOutput(['stop', '--time=35', container]);
    expect((await podmanOutput(['inspect', '--format={{.State.ExitCode}}', container])).trim()).toBe('0');
  });

  it('exits with an error if its database is unreachable', async () => {
    const { code } = await runInImage({ ...settings, INLET_POSTGRES_URL: 'postgres://x@127.0.0.1:9/x' }, 'worker');
    expect(code).toBeGreaterThan(0);
  });
});
