import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audienceFileListSchema } from '../../src/adapters/http/records/audience.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { limitsSchema } from '../../src/adapters/http/routes/get-limits.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type Audiences, startAudiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readProblem } from './api-client.ts';
import { type AudienceClient, audienceClient, audiencePath } from './audience-client.ts';

type Caller = { readonly id: number | null; readonly client: AudienceClient };

describe("a customer with half of its partner's limits", () => {
  let market: Audiences;
  let greedy: Caller;
  let partner: Caller;
  let others: readonly Caller[];

  beforeAll(async () => {
    market = await startAudiences('customer-shares', { INLET_MAX_FOLLOWERS_PER_PARTNER: '4' });
    partner = { id: null, client: market.audiences };
    greedy = await newCustomer('Greedy');
    others = [partner, await newCustomer('Other')];
  });
  afterAll(() => market.stop());

  async function newCustomer(name: string): Promise<Caller> {
    const { id, userToken } = await market.partner.createCustomer(name);
    rememberSecrets(userToken);
    return { id, client: audienceClient(market.service.url, market.partner.apiKey, userToken) };
  }
  const execute = (text: string, ...values: readonly unknown[]) =>
    withDatabase(market.stores, (db) => db.query(text, [...values]));
  const problemOf = async (answer: Response) => problemSchema.strict().parse(await readProblem(answer));

  it("sees limits that are half of its partner's", async () => {
    const limitsOf = async ({ client }: Caller) => {
      const limits = limitsSchema.parse(await (await client.request('/v1/limits')).json());
      return [limits.open_uploads, limits.open_exports, limits.waiting_requests];
    };
    expect(await limitsOf(partner)).toEqual([100, 10, 4]);
    expect(await limitsOf(greedy)).toEqual([50, 5, 2]);
  });

  it('cannot start more uploads than its share, while other customers still can', async () => {
    await execute(
      `INSERT INTO upload (partner_id, customer_id, object_key, storage_id, expires_at)
       SELECT $1, $2, n::text, n::text, now() + interval '1 hour' FROM generate_series(1, 49) n`,
      market.partner.id,
      greedy.id,
    );
    const start = ({ client }: Caller) =>
      client.request('/v1/uploads', { method: 'POST', body: JSON.stringify({ file_path: 'a.csv', bytes: 1 }) });
    expect((await start(greedy)).status).toBe(201);
    expect(await problemOf(await start(greedy))).toMatchObject({
      code: 'too_many_uploads',
      detail: 'The customer has 50 open uploads, or its partner has 100, which are the limits.',
    });
    for (const other of others) expect((await start(other)).status).toBe(201);
  });

  it('cannot request more exports of rejected rows than its share, while other customers still can', async () => {
    await market.partner.upload('some/a.csv', 'nonsense,x\n');
    const exportOf = async ({ client }: Caller) => {
      const { audienceId } = await client.create('Rejects', 'some/a.csv');
      await client.settled(audienceId);
      const files = await client.request(`${audiencePath}/${audienceId}/files`);
      const [file] = audienceFileListSchema.parse(await files.json());
      return { audienceId, path: `${audiencePath}/${audienceId}/files/${file?.file_id}/rejects` };
    };
    const { audienceId, path } = await exportOf(greedy);
    // No worker claims these exports, or any other export of this partner while one of them is claimed.
    await execute(
      `WITH file AS (
         INSERT INTO job_file (job_id, partner_id, key, path, etag, size, status, batch_id, audience_id, generation)
         SELECT job_id, partner_id, n::text, n::text, '', 1, 2, 1, audience_id, generation
         FROM audience_load, generate_series(1, 5) n WHERE audience_id = $1 RETURNING id, job_id, partner_id
       ) INSERT INTO reject_export (partner_id, job_id, job_file_id, folder, status, claimed_until)
         SELECT partner_id, job_id, id, '', 1, now() + interval '1 hour' FROM file`,
      audienceId,
    );
    const post = (caller: Caller, to: string) => caller.client.request(to, { method: 'POST' });
    expect(await problemOf(await post(greedy, path))).toMatchObject({
      code: 'too_many_open_jobs',
      detail: 'The customer has 5 open exports of rejected rows, which is the limit.',
    });
    for (const other of others) expect((await post(other, (await exportOf(other)).path)).status).toBe(202);
  });

  it('cannot have more waiting requests than its share, while other customers still can', async () => {
    const leave = new AbortController();
    const wait = ({ client }: Caller, seconds: number, signal?: AbortSignal) =>
      client.request('/v1/events?after=999999999', {
        headers: { prefer: `wait=${seconds}` },
        ...(signal ? { signal } : {}),
      });
    // A request that gets no slot is answered immediately, so it is sent again.
    const keepWaiting = async (): Promise<void> => {
      while (!leave.signal.aborted)
        await wait(greedy, 60, leave.signal).then(
          (answer) => answer.text(),
          () => '',
        );
    };
    const waiting = [keepWaiting(), keepWaiting()];
    const isWaited = async (caller: Caller) => (await wait(caller, 1)).headers.has('preference-applied');
    await waitUntil('the customer waits for no more events', async () => !(await isWaited(greedy)));
    for (const other of others) expect(await isWaited(other)).toBe(true);
    leave.abort();
    await Promise.all(waiting);
    await waitUntil('the customer waits again', () => isWaited(greedy));
  });
});
