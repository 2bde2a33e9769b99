import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEvents } from '../support/event-stream.ts';
import { startWaitingJobs, type WaitingJobs } from '../support/waiting-jobs.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

const limitMs = 5_000;

describe('revocation during a wait', () => {
  let jobs: WaitingJobs;

  beforeAll(async () => {
    jobs = await startWaitingJobs('revoked-while-waiting');
  });
  afterAll(() => jobs.stop());

  type Ends = { readonly stream: Promise<string>; readonly wait: Promise<number> };

  /** Opens a stream and a waiting request for a record that does not change. */
  async function waitFor(path: string, headers: Record<string, string>): Promise<Ends> {
    const ask = (of: string, more = {}): Promise<Response> =>
      fetch(jobs.service.url + of, { headers: { ...headers, ...more } });
    const stream = readEvents(await ask(`${path}/events`));
    const wait = ask(path, { prefer: 'wait=60' }).then(({ status }) => status);
    return { stream: stream.ended.then(() => stream.events.map(({ event }) => event).join(' ')), wait };
  }

  /** Returns each stream's and request's outcome within the time limit. */
  async function within(ends: readonly Ends[]): Promise<unknown[]> {
    const late = new Promise<'still open'>((resolve) => setTimeout(resolve, limitMs, 'still open'));
    return Promise.all(ends.flatMap(({ stream, wait }) => [Promise.race([stream, late]), Promise.race([wait, late])]));
  }

  it('a waiting request or stream ends when its API key is revoked, while others continue', async () => {
    const path = `/v1/marketplace/import/${await jobs.queue()}`;
    const { id, apiKey } = await jobs.partner.createKey();
    const waiting = [
      await waitFor(path, { authorization: `Bearer ${apiKey}` }),
      await waitFor(path, { authorization: `Bearer ${jobs.partner.apiKey}` }),
    ];
    await jobs.partner.operate('key', 'revoke', String(id), '--partner', jobs.partner.name);
    expect(await within(waiting)).toEqual(['progress', 401, 'still open', 'still open']);
  });

  it('a waiting request or stream ends when its user token is revoked, while others continue', async () => {
    const [acme, globex] = await Promise.all(['Acme', 'Globex'].map((name) => jobs.partner.createCustomer(name)));
    const waiting: Ends[] = [];
    for (const { userToken } of [acme, globex].filter((customer) => customer !== undefined)) {
      const client = audienceClient(jobs.service.url, jobs.partner.apiKey, userToken);
      const { audienceId } = await client.create('members', 'members/');
      const headers = { authorization: `Bearer ${jobs.partner.apiKey}`, 'x-user-token': userToken };
      waiting.push(await waitFor(`${audiencePath}/${audienceId}`, headers));
    }
    await jobs.partner.operate('user-token', 'revoke', '--partner', jobs.partner.name, String(acme?.tokenId));
    expect(await within(waiting)).toEqual(['progress', 401, 'still open', 'still open']);
  });
});
