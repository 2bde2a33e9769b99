import fastify from 'fastify';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { runInNewContext } from 'node:vm';
import { Webhook as StockSigner } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../packages/sdk/src/inlet.ts';

// Runs the recipes of docs/partners/webhooks.md for Fastify and Next.js. Express is not a dependency, so its recipe is not run.

const page = readFileSync('docs/partners/webhooks.md', 'utf8');
const secret = `whsec_${Buffer.from('a test secret with thirty-two b.').toString('base64')}`;
const body = JSON.stringify({ type: 'audience.cleared', sequence: 7, customer: 'Müller & Söhne' });

/** Runs the code block that contains the text and then another statement, with these names in scope. */
function runRecipe(text: string, scope: Readonly<Record<string, unknown>>, then = ''): unknown {
  const block = [...page.matchAll(/```ts\n(.*?)```/gs)]
    .map(([, code = '']) => code)
    .find((code) => code.includes(text));
  if (block === undefined) throw new Error(`docs/partners/webhooks.md has no recipe with ${text}`);
  return runInNewContext(`${stripTypeScriptTypes(block).replace('export ', '')}\n${then}`, scope);
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
    runRecipe('fastify.post', { ...scope, fastify: app });
    const request = { method: 'POST', url: '/hooks', headers: signed(body) } as const;
    expect((await app.inject({ ...request, payload: body })).statusCode).toBe(204);
    expect(logged).toEqual([['audience.cleared', 7]]);
    expect((await app.inject({ ...request, payload: `${body} ` })).statusCode).toBeGreaterThanOrEqual(400);
    expect(logged).toHaveLength(1);
    await app.close();
  });

  it('in Next.js accepts a signed event and rejects a changed one', async () => {
    const post = async (text: string): Promise<unknown> => {
      const request = new Request('http://localhost/hooks', { method: 'POST', headers: signed(body), body: text });
      return runRecipe('function POST', { ...scope, Response, request }, 'POST(request)');
    };
    expect(await post(body)).toMatchObject({ status: 204 });
    expect(logged).toEqual([['audience.cleared', 7]]);
    await expect(post(`${body} `)).rejects.toThrow('signature');
    expect(logged).toHaveLength(1);
  });
});
