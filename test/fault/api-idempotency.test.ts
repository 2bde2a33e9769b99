import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { apiClient, readProblem } from '../acceptance/api-client.ts';
import { partnerState } from '../support/partner-state.ts';
import { type RepeatableRequest, repeatableOperations, repeatableRequest } from '../support/repeatable-requests.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Kills an API process while it handles a request with an idempotency key. The caller gets no response and sends the
// request again to another process. The request must take effect exactly once.

/** The gate tests the first operation at every point. The long run tests all operations. */
const operations = inject('campaign') === 'long' ? repeatableOperations : repeatableOperations.slice(0, 1);

describe('idempotency keys', () => {
  let stores: TestStores;
  let deps: Wired;
  let clean: ServiceProcess & { readonly url: string };

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    clean = await startApi(stores.environment, 'api-idempotency');
  });
  afterAll(async () => {
    await stopProcess(clean.child);
    await deps.close();
    await stores.drop();
  });

  /** Creates a partner with an attribute and an audience, and prepares its request. */
  const newCaller = async (operation: (typeof repeatableOperations)[number]) => {
    const { id, apiKey } = await newBarePartner(deps);
    const attribute = await deps.attributes.create(id, { name: 'a', foreignKeys: [] });
    const scope = { partnerId: id, customerId: null };
    const load = { name: 'One', path: { relative: 'one/', literal: null }, maxOpenJobs: 10 };
    const { audienceId } = await deps.audiences.create(scope, load);
    const request = repeatableRequest(operation, { audienceId, attributeId: attribute.id });
    const send = ({ url }: { readonly url: string }): Promise<Response> => sendOnce(url, apiKey, request);
    return { id, request, send };
  };
  const sendOnce = (url: string, apiKey: string, { method, path, body }: RepeatableRequest): Promise<Response> =>
    apiClient(url, apiKey).request(path, { method, body, headers: { 'idempotency-key': 'the-same' } });
  const startVictim = (failpoint: string) =>
    startApi({ ...stores.environment, INLET_FAILPOINT: failpoint }, 'api-idempotency-victim');

  it.each(operations)(
    'a request with an idempotency key runs exactly once, regardless of where the API process is killed: %s',
    async (operation) => {
      const { port } = repeatableRequest(operation, { audienceId: 1, attributeId: 1 });
      const uncommitted = [`before ${port}`, 'after requests.claim', 'before requests.save', 'after requests.save'];
      const committed = `after ${port}`;
      for (const point of [...uncommitted, committed]) {
        const victim = await startVictim(point);
        const { id, request, send } = await newCaller(operation);
        const before = await partnerState(stores, id);
        const killed = once(victim.child, 'exit');
        await expect(send(victim)).rejects.toThrow('fetch failed');
        await killed;
        expect(victim.child.signalCode).toBe('SIGKILL');
        const isDone = point === committed ? 1 : 0;
        const done = {
          jobs: before.jobs + request.jobs,
          records: before.records + request.jobs,
          audiences: before.audiences + request.audiences,
          generations: before.generations + request.generations,
          tokens: 1,
          requests: 1,
        };
        expect(await partnerState(stores, id), point).toEqual(isDone ? done : before);
        const [first, second] = [await send(clean), await send(clean)];
        expect(first.headers.get('idempotent-replayed'), point).toBe(isDone ? 'true' : null);
        expect(second.headers.get('idempotent-replayed'), point).toBe('true');
        expect(first.ok, point).toBe(true);
        expect([second.status, second.headers.get('location'), await second.text()]).toEqual([
          first.status,
          first.headers.get('location'),
          await first.text(),
        ]);
        expect(await partnerState(stores, id), point).toEqual(done);
      }
    },
  );

  it('a repeated request gets 409 while a suspended API process handles the original, and the same response afterward', async () => {
    const victim = await startVictim('stop after requests.save');
    const { id, send } = await newCaller('queueImport');
    const stranger = await newCaller('queueImport');
    const before = await partnerState(stores, id);
    const first = send(victim);
    await waitUntil('the API process is suspended', async () =>
      Promise.resolve(readFileSync(victim.logFile, 'utf8').includes('stopped at this point')),
    );
    const start = performance.now();
    const rejected = await send(clean);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(rejected.headers.get('retry-after')).toBe('1');
    expect(await readProblem(rejected)).toMatchObject({ status: 409, code: 'idempotency_key_in_use' });
    // Idempotency keys are scoped to a partner.
    expect((await stranger.send(clean)).headers.get('idempotent-replayed')).toBeNull();
    expect(await partnerState(stores, id)).toEqual(before);
    victim.child.kill('SIGCONT');
    const [answer, again] = [await first, await send(clean)];
    expect([again.status, await again.text()]).toEqual([answer.status, await answer.text()]);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await partnerState(stores, id)).toEqual({ ...before, jobs: 2, records: 2, requests: 1 });
    await stopProcess(victim.child);
  });
});
