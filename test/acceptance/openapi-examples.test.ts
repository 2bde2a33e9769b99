import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotatedStorageKeySchema } from '../../src/adapters/http/records/storage-key.ts';
import { uploadExample, uploadSchema } from '../../src/adapters/http/records/upload.ts';
import { insertDeletion } from '../support/insert-deletion.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { answerChecker, readAnswer } from '../support/openapi/check-answer.ts';
import {
  type DescribedOperation,
  isForOperators,
  operationsOf,
  parseOpenApi,
  readOpenApiText,
} from '../support/openapi/document.ts';
import { exampleRequests } from '../support/openapi/example-requests.ts';
import { makeExampleWorld } from '../support/openapi/example-world.ts';
import { operatorHeaders } from '../support/operator-session.ts';
import { withDatabase } from '../support/stores.ts';
import { startAudiences, type Audiences } from '../support/start-audiences.ts';

// Sends every example in the OpenAPI document unchanged and validates the response against the document.

const document = parseOpenApi(readOpenApiText());
const check = answerChecker(document);

/** Sorts operations so that creates run before reads, and clears and deletes run last. */
const order = ['POST', 'GET', 'PATCH', 'PUT', 'DELETE'];
const positionOf = ({ operationId, method }: DescribedOperation): number =>
  // The customer is removed last, because other operations need it.
  operationId === 'removeCustomer' ? order.length : order.indexOf(method);
const operations = operationsOf(document).toSorted((one, other) => positionOf(one) - positionOf(other));

function success({ responses }: DescribedOperation): number {
  return Number(Object.keys(responses).find((status) => status.startsWith('2')));
}

/** Creates the failed file that the example dismisses. */
async function makeFailedFile({ stores }: Audiences): Promise<void> {
  await withDatabase(stores, (client) =>
    client.query(
      `INSERT INTO job_file (id, job_id, partner_id, audience_id, generation, key, path, etag, size, status, failure_code,
         failure_detail, batch_id)
       SELECT 71, (SELECT min(job_id) FROM audience_load WHERE audience_id = audience.id), partner_id, id, generation,
         'failed.csv', 'failed.csv', 'x', 1, 3, 'bad_rows', 'Too many rows were rejected.', 71 FROM audience WHERE id = 1
       ON CONFLICT (id) DO UPDATE SET generation = excluded.generation`,
    ),
  );
}

/** Ensures that the examples' audience exists, because an earlier example may have deleted it. */
async function restoreAudience({ stores }: Audiences): Promise<void> {
  await withDatabase(stores, (client) =>
    client.query(`UPDATE audience SET deleted_at = NULL, name = 'Summer' WHERE id = 1`),
  );
}

/** Creates the append that the examples cancel and retry. */
async function makeAppend({ stores }: Audiences, status: 0 | 3): Promise<void> {
  await withDatabase(stores, async (client) => {
    await client.query(
      `INSERT INTO job (id, partner_id, seq, kind, status) SELECT 72, partner_id, 0, 'audience', $1 FROM audience WHERE id = 1
       ON CONFLICT (id) DO UPDATE SET status = $1, cancelled = false, finished_at = NULL`,
      [status],
    );
    await client.query(
      `INSERT INTO audience_load (job_id, partner_id, audience_id, generation, file_path)
       SELECT 72, partner_id, id, generation, 'acme/summer/' FROM audience WHERE id = 1
       ON CONFLICT (job_id) DO UPDATE SET generation = excluded.generation`,
    );
  });
}

/** Makes the examples' import wait again, so that one example can cancel it. The next example retries it. */
async function reopenImport({ stores }: Audiences): Promise<void> {
  await withDatabase(stores, (client) =>
    client.query('UPDATE job SET status = 0, listed_at = NULL, finished_at = NULL WHERE id = 1'),
  );
}

/** Logs the event that the example replays. */
async function logEvent({ stores, partner }: Audiences): Promise<void> {
  await withDatabase(stores, (client) =>
    client.query(
      `WITH counter AS (
         INSERT INTO event_counter (partner_id, last_sequence) VALUES ($1, 42)
         ON CONFLICT (partner_id) DO UPDATE SET last_sequence = 42)
       INSERT INTO event (partner_id, sequence, type, data)
       VALUES ($1, 42, 'audience.cleared', '{"audienceId":1,"warehouseSegmentId":500001}')`,
      [partner.id],
    ),
  );
}

/** Starts the upload that the examples name, and stores its only part. */
async function startExampleUpload({ api }: Audiences): Promise<string> {
  const body = JSON.stringify({ file_path: 'acme/uploaded.csv', bytes: 5 });
  const answer = await api.request('/v1/uploads', { method: 'POST', body });
  const { upload_id: uploadId, parts } = uploadSchema.parse(await answer.json());
  for (const { url } of parts) await fetch(url, { method: 'PUT', body: '12345' });
  return uploadId;
}

/** Creates the storage key that the example revokes. */
async function createExampleStorageKey({ api }: Audiences): Promise<string> {
  const answer = await api.request('/v1/storage-keys/rotate', { method: 'POST', body: '{}' });
  const made = rotatedStorageKeySchema.parse(await answer.json());
  rememberSecrets(made.secret_access_key ?? '');
  return made.access_key_id;
}

describe('OpenAPI examples', () => {
  let service: Audiences;
  let operator: Record<string, string>;

  beforeAll(async () => {
    service = await startAudiences('openapi-examples');
    await makeExampleWorld(service);
    await withDatabase(service.stores, async (client) => {
      await insertDeletion(client, service.partner.id, 5);
      // Otherwise, the sweep for idle lanes would let a worker run the append that an example cancels.
      await client.query(
        `INSERT INTO sweep (name, ran_at) VALUES ('wake lanes', now() + interval '1 day')
         ON CONFLICT (name) DO UPDATE SET ran_at = excluded.ran_at`,
      );
    });
    operator = await operatorHeaders(service.stores);
  });
  afterAll(() => service.stop());

  async function waitForAll(): Promise<void> {
    for (const { import_log_id } of await service.api.list()) await service.api.waitForEnd(import_log_id);
    for (const { audience_id } of await service.audiences.list()) await service.audiences.settled(audience_id);
  }

  /** An upload ID contains its path and expires, and a storage key must exist, so these examples cannot be valid. */
  async function validUrlOf({ operationId }: DescribedOperation, documented: string): Promise<string> {
    if (operationId === 'revokeStorageKey') return documented.replace(/[^/]+$/, await createExampleStorageKey(service));
    return documented.includes(uploadExample.upload_id)
      ? documented.replace(uploadExample.upload_id, await startExampleUpload(service))
      : documented;
  }

  it.each(operations)('the examples get documented responses: $method $path', async (operation) => {
    const examples = exampleRequests(operation);
    expect(examples.length).toBeGreaterThan(0);
    if (operation.method === 'DELETE' && operation.path.includes('/audience/')) await restoreAudience(service);
    if (/^(?:dismissFile|requestAudienceRejects)/.test(operation.operationId)) await makeFailedFile(service);
    if (operation.operationId.startsWith('cancelAppend')) await makeAppend(service, 0);
    if (operation.operationId.startsWith('retryAppend')) await makeAppend(service, 3);
    if (operation.operationId === 'replayEvents') await logEvent(service);
    if (operation.operationId === 'cancelImport') await reopenImport(service);
    for (const { name, method, url: documented, headers, body } of examples) {
      const url = await validUrlOf(operation, documented);
      const answer = await readAnswer(
        isForOperators(operation)
          ? await fetch(service.service.url + url, { method, headers: { ...headers, ...operator } })
          : await service.api.request(url, { method, headers, ...(body === undefined ? {} : { body }) }),
      );
      expect(answer, `${name}: ${answer.text}`).toMatchObject({ status: success(operation) });
      expect(check(operation, answer), name).toEqual([]);
      expect(answer.headers.get('content-type') ?? '', name).toContain(headers['accept'] ?? '');
    }
    if (operation.method !== 'GET') await waitForAll();
  });

  it('the examples have the documented effect', async () => {
    const logs = await service.api.list();
    expect(logs.map(({ status }) => status)).toContain(2);
    expect(logs.find(({ retry_of }) => retry_of === 1)).toMatchObject({ status: 2, total_rows: '3' });
    // The storage credentials in the example are invalid.
    expect(logs.flatMap(({ errors }) => errors ?? []).map(({ code }) => code)).toContain(
      'storage_credentials_rejected',
    );
  });

  it('the examples fail the response check if they are wrong', async () => {
    const operation = operations.find(({ operationId }) => operationId === 'getImportLog');
    if (!operation) throw new Error('no such operation');
    const answer = await readAnswer(await service.api.request('/v1/marketplace/import/1'));
    const changed = (change: object) => ({
      ...answer,
      text: JSON.stringify({ ...JSON.parse(answer.text), ...change }),
    });
    expect(check(operation, changed({ status: 4 }))).not.toEqual([]);
    expect(check(operation, changed({ surprise: 1 }))).not.toEqual([]);
    expect(check(operation, { ...answer, status: 418 })).not.toEqual([]);
    expect(check(operation, { ...answer, headers: new Headers({ 'content-type': 'application/json' }) })).toEqual(
      ['x-request-id', 'ratelimit-policy', 'etag', 'cache-control', 'vary'].map(
        (name) => `the header ${name} is missing`,
      ),
    );
    const asText = new Headers(answer.headers);
    asText.set('content-type', 'text/plain');
    expect(check(operation, { ...answer, headers: asText })).not.toEqual([]);
  });
});
