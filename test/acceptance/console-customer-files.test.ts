import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createdAudienceSchema } from '../../src/adapters/http/records/audience.ts';
import { historyListSchema } from '../../src/adapters/http/records/audience-history.ts';
import { loadErrorListSchema } from '../../src/adapters/http/records/load-error.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { uploadSchema } from '../../src/adapters/http/records/upload.ts';
import { type Browser, signInWithKey } from '../support/console-sign-in.ts';
import { device } from '../support/device-id.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { waitUntil } from '../support/wait-until.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

// A rejected row shows the text of a file. If customers could load any file below the prefix, they could read the files
// of the partner and of its other customers this way.

const secret = 'secret-row-of-the-partner';
const secretOfOther = 'secret-row-of-the-other-customer';

describe('files of a customer who is signed in to the console', () => {
  let market: Audiences;
  let customer: Browser;
  let other: Browser;
  let userToken: string;
  let folder: string;
  let otherFolder: string;
  let ownAudience: number;

  beforeAll(async () => {
    market = await joinAudiences();
    const { partner, service } = market;
    ({ userToken } = await partner.createCustomer('Retail Co'));
    customer = await signInWithKey(service.url, partner.apiKey, userToken);
    other = await signInWithKey(service.url, partner.apiKey, (await partner.createCustomer('Other Co')).userToken);
    await partner.upload('daily/a.csv', `${device(1)},a\n${secret}\n`);
    folder = (await upload(customer, 'own/a.csv', `${device(2)},a\nbroken-row-of-the-customer\n`)).replace(
      'own/a.csv',
      '',
    );
    otherFolder = (await upload(other, 'a.csv', `${secretOfOther}\n`)).replace('a.csv', '');
    ownAudience = await create(customer, `${folder}own/`);
  });
  afterAll(() => market.stop());

  const send = (browser: Browser, method: string, path: string, body?: object): Promise<Response> =>
    browser.request(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });

  /** Returns the path at which the file is stored. */
  async function upload(browser: Browser, path: string, content: string): Promise<string> {
    const started = await send(browser, 'POST', '/v1/uploads', { file_path: path, bytes: content.length });
    const { upload_id: id, file_path: stored, parts } = uploadSchema.parse(await started.json());
    expect((await fetch(parts[0]?.url ?? '', { method: 'PUT', body: content })).status).toBe(200);
    expect((await send(browser, 'POST', `/v1/uploads/${id}/complete`)).status).toBe(200);
    return stored;
  }
  async function create(browser: Browser, filePath: string): Promise<number> {
    const created = await send(browser, 'POST', audiencePath, { name: 'Own', file_path: filePath });
    expect(created.status).toBe(201);
    return createdAudienceSchema.parse(await created.json()).audience_id;
  }
  async function rejectedTexts(browser: Browser, audienceId: number): Promise<string[]> {
    let texts: string[] = [];
    await waitUntil(`audience ${audienceId} has rejected rows`, async () => {
      const list = await send(browser, 'GET', `${audiencePath}/${audienceId}/errors`);
      expect(list.status).toBe(200);
      texts = loadErrorListSchema.parse(await list.json()).flatMap(({ text }) => text ?? []);
      return texts.length > 0;
    });
    return texts;
  }
  const refusedPaths = () => [
    'daily/',
    'daily/a.csv',
    'customers/',
    'customers',
    otherFolder,
    `${otherFolder}a.csv`,
    `${folder}../${otherFolder.split('/')[1]}/a.csv`,
    folder.slice(0, -1),
    market.partner.prefix,
    `${market.partner.prefix}daily/`,
    `${market.partner.prefix}${folder}`,
  ];

  it('a customer can load its own files and read their rejected rows', async () => {
    expect(await rejectedTexts(customer, ownAudience)).toEqual(['broken-row-of-the-customer']);
    const appended = await send(customer, 'PATCH', `${audiencePath}/${ownAudience}`, {
      file_path: `${folder}own/a.csv`,
    });
    expect(appended.status).toBe(204);
  });

  it('a customer cannot create an audience from any other file, or append one to an audience', async () => {
    for (const path of refusedPaths()) {
      for (const [method, target] of [
        ['POST', audiencePath],
        ['PATCH', `${audiencePath}/${ownAudience}`],
      ] as const) {
        const body = method === 'POST' ? { name: 'Foreign', file_path: path } : { file_path: path };
        const response = await send(customer, method, target, body);
        const { code, detail } = problemSchema.parse(await response.json());
        expect([response.status, code], `${method} ${path}`).toEqual([400, 'invalid_file_path']);
        expect(detail).not.toContain(secret);
      }
    }
    const texts = await rejectedTexts(customer, ownAudience);
    expect(texts.join()).not.toContain('secret');
  });

  it("no other customer can read the rejected rows of a customer's files", async () => {
    const response = await send(other, 'GET', `${audiencePath}/${ownAudience}/errors`);
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain('broken-row');
  });

  it("the partner's own program can choose any path for its customer", async () => {
    const client = audienceClient(market.service.url, market.partner.apiKey, userToken);
    const { audienceId } = await client.create('Chosen by the partner', 'daily/');
    expect(await rejectedTexts(customer, audienceId)).toEqual([secret]);
    // The customer cannot repeat the append either, because the folder may contain other files by then.
    const [append] = historyListSchema.parse(
      await (await send(customer, 'GET', `${audiencePath}/${audienceId}/history`)).json(),
    );
    for (const files of ['all', 'failed']) {
      const path = `${audiencePath}/${audienceId}/appends/${append?.append?.append_id}/retry`;
      const response = await send(customer, 'POST', path, { files });
      expect([response.status, problemSchema.parse(await response.json()).code]).toEqual([400, 'invalid_file_path']);
    }
  });
});
