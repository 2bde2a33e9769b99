import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { startApi, stopProcess, type ServiceProcess } from '../support/running-service.ts';
import { createStores, withDatabase, type TestStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

type RunningApi = ServiceProcess & { readonly url: string };

const auditSchema = z.array(z.looseObject({ key_id: z.int().nullable(), request_id: z.string().nullable() }));
const limitMs = 5_000;
const keyOf = (stores: TestStores, id: number, statement: string): Promise<{ at: Date }> =>
  withDatabase(stores, async (client) => {
    const { rows } = await client.query<{ at: Date }>(statement, [id]);
    if (!rows[0]) throw new Error('the key does not exist');
    return rows[0];
  });

describe('revocation with three API processes', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let apis: RunningApi[];

  beforeAll(async () => {
    stores = await createStores('one');
    partner = await createPartner(stores.environment);
    apis = await Promise.all(['one', 'two', 'three'].map((name) => startApi(stores.environment, `revoked-${name}`)));
  });
  afterAll(async () => {
    await Promise.all(apis.map(({ child }) => stopProcess(child)));
    await stores.drop();
  });

  const statusAt = async ({ url }: RunningApi, apiKey: string): Promise<number> => {
    const answer = await fetch(`${url}/v1/marketplace/attributes`, { headers: { authorization: `Bearer ${apiKey}` } });
    await answer.text();
    return answer.status;
  };

  /** Sends requests continuously until it is stopped. Returns the status and time of each response. */
  function keepRequesting(api: RunningApi, apiKey: string) {
    const answers: { at: number; status: number }[] = [];
    const stopped = new AbortController();
    const requesting = (async () => {
      while (!stopped.signal.aborted) {
        const status = await statusAt(api, apiKey);
        answers.push({ at: Date.now(), status });
        await pause(5);
      }
    })();
    return {
      answers,
      stop: async () => {
        stopped.abort();
        await requesting;
      },
    };
  }

  it('a revoked key is rejected by every process within 5 seconds, even after 30 days of use', async () => {
    const { id, apiKey } = await partner.createKey('old');
    const thirtyDaysAgo = `UPDATE api_key SET created_at = now() - interval '30 days' WHERE id = $1 RETURNING created_at AS at`;
    expect((await keyOf(stores, id, thirtyDaysAgo)).at.getTime()).toBeLessThan(Date.now() - 29 * 86_400_000);
    const requesters = apis.map((api) => keepRequesting(api, apiKey));
    await waitUntil('all processes accept the key', () =>
      Promise.resolve(requesters.every(({ answers }) => answers.filter(({ status }) => status === 200).length > 10)),
    );
    await partner.operate('key', 'revoke', String(id), '--partner', partner.name);
    await waitUntil('all processes reject the key', () =>
      Promise.resolve(requesters.every(({ answers }) => answers.filter(({ status }) => status === 401).length > 10)),
    );
    await Promise.all(requesters.map(({ stop }) => stop()));
    const revokedAt = (await keyOf(stores, id, 'SELECT revoked_at AS at FROM api_key WHERE id = $1')).at.getTime();
    const delays = requesters.map(({ answers }) => {
      const first = answers.findIndex(({ status }) => status === 401);
      expect(new Set(answers.slice(0, first).map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(answers.slice(first).map(({ status }) => status))).toEqual(new Set([401]));
      return (answers[first]?.at ?? Infinity) - revokedAt;
    });
    process.stdout.write(`rejected ${delays.map((ms) => `${ms} ms`).join(', ')} after revocation\n`);
    expect(Math.max(...delays)).toBeLessThan(limitMs);
  });

  it('the last use of a revoked key and a later rejected call are recorded', async () => {
    const { id, apiKey } = await partner.createKey();
    for (const api of apis) expect(await statusAt(api, apiKey)).toBe(200);
    const used = `SELECT last_used_at AS at FROM api_key WHERE id = $1 AND last_used_at IS NOT NULL`;
    await waitUntil('its use is recorded', async () => Boolean(await keyOf(stores, id, used)), 30);
    await partner.operate('key', 'revoke', String(id), '--partner', partner.name);
    const [api] = apis;
    const answer = await fetch(`${api?.url}/v1/marketplace/attributes`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(answer.status).toBe(401);
    await waitUntil(
      'the rejected call is recorded',
      async () => {
        const log = await partner.operate('audit-log', '--json', '--partner', partner.name, '--limit', '100');
        const request_id = answer.headers.get('x-request-id');
        return auditSchema
          .parse(JSON.parse(log))
          .some((entry) => entry.request_id === request_id && entry.key_id === id);
      },
      60,
    );
  });

  it('a key that was sent in a path does not appear in the log', async () => {
    const [api] = apis;
    const { apiKey } = await partner.createKey();
    expect((await fetch(`${api?.url}/v1/marketplace/import/${apiKey}`)).status).toBe(401);
    await waitUntil('the request is logged', () =>
      Promise.resolve(readFileSync(api?.logFile ?? '', 'utf8').includes('/v1/marketplace/import/[key]')),
    );
    expect(readFileSync(api?.logFile ?? '', 'utf8')).not.toContain(apiKey);
  });
});
