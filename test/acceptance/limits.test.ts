import { limitsSchema } from '../../src/adapters/http/routes/get-limits.ts';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner } from '../support/partners.ts';
import { startApi, stopProcess } from '../support/running-service.ts';
import { createStores, type TestStores } from '../support/stores.ts';

const settings = {
  INLET_REQUESTS_PER_KEY: '40',
  INLET_REQUESTS_PER_PARTNER: '50',
  INLET_MAX_OPEN_JOBS: '2',
  INLET_MAX_FILES_PER_PREFIX: '60',
  INLET_MAX_GZIP_FILE_BYTES: '70',
  INLET_MAX_PLAIN_FILE_BYTES: '80',
  INLET_MAX_LINE_BYTES: '90',
  INLET_MAX_HEADER_BYTES: '4000',
  INLET_MAX_STORED_ROWS: '100',
  INLET_MAX_STORED_BYTES: '200',
  INLET_MAX_AUDIENCES: '3',
  INLET_MAX_ATTRIBUTES: '4',
  INLET_MAX_FOREIGN_KEYS: '5',
  INLET_MAX_WEBHOOKS: '7',
  INLET_MAX_SUBSCRIPTIONS: '8',
  INLET_MAX_IDEMPOTENCY_KEYS: '6',
};

describe('GET /v1/limits', () => {
  let stores: TestStores;
  let api: Awaited<ReturnType<typeof startApi>>;
  let request: (path: string, init?: RequestInit) => Promise<Response>;

  beforeAll(async () => {
    stores = await createStores('one');
    const { apiKey } = await createPartner(stores.environment);
    api = await startApi({ ...stores.environment, ...settings }, 'limits');
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    request = (path, init = {}) =>
      fetch(api.url + path, { ...init, headers: { ...headers, ...Object.fromEntries(new Headers(init.headers)) } });
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await stores.drop();
  });

  const limits = async () => limitsSchema.strict().parse(await (await request('/v1/limits')).json());

  it('returns the configured limits', async () => {
    expect(await limits()).toEqual({
      requests_per_minute_per_key: 40,
      requests_per_minute_per_partner: 50,
      open_jobs: 2,
      open_uploads: 100,
      open_exports: 10,
      open_deletions: 100,
      waiting_requests: 250,
      files_per_prefix: 60,
      keys_per_delete: 1000,
      audience_bad_row_share: 0,
      unhyphenated_ids: false,
      gzip_file_bytes: 70,
      plain_file_bytes: 80,
      line_bytes: 90,
      body_bytes: 1024 * 1024,
      header_bytes: 4000,
      reports: {
        composition: { limit: 100, used: 0, renews_at: null },
        overlap: { limit: 100, used: 0, renews_at: null },
      },
      quotas: {
        stored_rows: { limit: 100, used: 0, measured_at: null },
        stored_bytes: { limit: 200, used: 0, measured_at: null },
        audiences: { limit: 3, used: 0 },
        attributes: { limit: 4, used: 0 },
        foreign_keys: { limit: 5, used: 0 },
        webhooks: { limit: 7, used: 0 },
        subscriptions: { limit: 8, used: 0 },
        idempotency_keys: { limit: 6, used: 0, measured_at: null },
      },
    });
  });

  it('returns the limits that requests must meet', async () => {
    const { open_jobs, body_bytes, header_bytes } = await limits();
    const codeOf = async (answer: Response): Promise<string> =>
      z.object({ code: z.string() }).parse(await answer.json()).code;
    const post = (body: string) => request('/v1/marketplace/import', { method: 'POST', body });
    const job = JSON.stringify({ file_path: 'a.csv', key_type: 0 });
    for (let number = 0; number < open_jobs; number++) expect((await post(job)).status).toBe(202);
    expect(await codeOf(await post(job))).toBe('too_many_open_jobs');
    expect(await codeOf(await post(' '.repeat(body_bytes + 1)))).toBe('payload_too_large');
    const large = await request('/v1/limits', { headers: { 'x-filler': 'x'.repeat(header_bytes) } });
    expect(large.status).toBe(431);
    expect(await codeOf(large)).toBe('headers_too_large');
  });

  it('requires an API key', async () => {
    expect((await fetch(`${api.url}/v1/limits`)).status).toBe(401);
  });
});
