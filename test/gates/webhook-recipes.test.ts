import fastify from 'fastify';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { Webhook as StockSigner } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../packages/sdk/src/inlet.ts';

// Runs the recipes of docs/partners/webhooks.md for Fastify and Next.js. Express is not a dependency, so its recipe is not run.

const page = readFileSync('docs/partners/webhooks.md', 'utf8');
const secret = `whsec_${Buffer.from('a test secret with thirty-two b.').toString('base64')}`;
const body = JSON.stringify({ type: 'audience.cleared', sequence: 7, customer: 'Müller & Söhne' });

/** Runs the code block that contains the text, with these names in scope. */
async function runRecipe(text: string, scope: Readonly<Record<string, unknown>>): Promise<unknown> {
  const block = [...page.matchAll(/```ts\n(.*?)```/gs)]
    .map(([, code = '']) => code)
    .find((code) => code.includes(text));
  if (block === undefined) throw new Error(`docs/partners/webhooks.md has no recipe with ${text}`);
  const code = stripTypeScriptTypes(block).replace('export async function POST', 'return async function POST');
  const names = Object.keys(scope);
  // oxlint-disable-next-line typescript/no-implied-eval -- the code is a page of this repository
  return new Function(...names, code)(...names.map((name) => scope[name]));
}

function signed(text: string): Record<string, string> {
  const at = new Date();
  return {
    'content-type': 'application/json',
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new StockSigner(secret).sign('evt_1', at, text),
  };
}

describe('a webhook receiver of docs/partners/webhooks.md', () => {
  const logged: unknown[][] = [];
  const scope = {
    verifyWebhook,
    process: { env: { WEBHOOK_SECRET: secret } },
    console: { log: (...values: unknown[]) => logged.push(values) },
  };
  beforeEach(() => logged.splice(0));

  it('in Fastify accepts a signed event and rejects a changed one', async () => {
    const app = fastify();
    await runRecipe('fastify.post', { ...scope, fastify: app });
    const request = { method: 'POST', url: '/hooks', headers: signed(body) } as const;
    expect((await app.inject({ ...request, payload: body })).statusCode).toBe(204);
    expect(logged).toEqual([['audience.cleared', 7]]);
    expect((await app.inject({ ...request, payload: `${body} ` })).statusCode).toBeGreaterThanOrEqual(400);
    expect(logged).toHaveLength(1);
    await app.close();
  });

  it('in Next.js accepts a signed event and rejects a changed one', async () => {
    const post = await runRecipe('function POST', scope);
    if (typeof post !== 'function') throw new Error('the recipe exports no POST');
    const request = (text: string): Request =>
      new Request('http://localhost/hooks', { method: 'POST', headers: signed(body), body: text });
    const answer: unknown = await post(request(body));
    expect(answer).toMatchObject({ status: 204 });
    expect(logged).toEqual([['audience.cleared', 7]]);
    await expect(post(request(`${body} `))).rejects.toThrow('signature');
    expect(logged).toHaveLength(1);
  });
});
