import { Webhook as StockSigner } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from './verify-webhook.ts';
import { InvalidWebhook, signWebhook } from './webhook-signature.ts';

const secret = `whsec_${Buffer.from('a test secret with thirty-two b.').toString('base64')}`;
const otherSecret = `whsec_${Buffer.from('another secret, also not used it').toString('base64')}`;
const body = JSON.stringify({ type: 'audience.cleared', sequence: 7, customer: 'Müller & Söhne' });
const id = 'evt_1';

function signedAt(at: Date, text = body): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new StockSigner(secret).sign(id, at, text),
  };
}

const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1000);

describe('verifyWebhook', () => {
  it('returns the event from a request signed by the Standard Webhooks library', async () => {
    expect(await verifyWebhook(body, signedAt(new Date()), secret)).toMatchObject({ type: 'audience.cleared' });
  });

  it('accepts bytes, a Headers object, and header names in any case', async () => {
    const headers = signedAt(new Date());
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const given of [new Headers(headers), upper])
      expect(await verifyWebhook(Buffer.from(body), given, secret)).toMatchObject({ sequence: 7 });
  });

  it('accepts any of several signatures, as after a rotation', async () => {
    const headers = signedAt(new Date());
    const [, foreign = ''] = new StockSigner(otherSecret).sign(id, new Date(), body).split(',');
    const signature = `v1a,xyz v1,${foreign} ${headers['webhook-signature']}`;
    await expect(verifyWebhook(body, { ...headers, 'webhook-signature': signature }, secret)).resolves.toBeDefined();
  });

  it.each([
    ['another body', `${body} `, signedAt(new Date())],
    ['another ID', body, { ...signedAt(new Date()), 'webhook-id': 'evt_2' }],
    ['a request signed six minutes ago', body, signedAt(ago(360))],
    ['a request signed in the future', body, signedAt(ago(-360))],
    ['a changed timestamp', body, { ...signedAt(ago(60)), 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) }],
    ['a timestamp that is not a number', body, { ...signedAt(new Date()), 'webhook-timestamp': 'now' }],
    ['no signature', body, { ...signedAt(new Date()), 'webhook-signature': '' }],
    ['an unknown version', body, { ...signedAt(new Date()), 'webhook-signature': 'v2,AAAA' }],
    ['text that is not base64', body, { ...signedAt(new Date()), 'webhook-signature': 'v1,%%%' }],
    ['no headers', body, {}],
  ])('rejects %s', async (_what, text, headers) => {
    await expect(verifyWebhook(text, headers, secret)).rejects.toThrow(InvalidWebhook);
  });

  it('rejects a request that was signed with another secret', async () => {
    await expect(verifyWebhook(body, signedAt(new Date()), otherSecret)).rejects.toThrow('No signature');
  });

  it('rejects a value that is not a webhook secret', async () => {
    await expect(verifyWebhook(body, signedAt(new Date()), 'inlet_test_key_x')).rejects.toThrow(TypeError);
  });
});

describe('signWebhook', () => {
  it('creates signatures that the Standard Webhooks library accepts', async () => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = await signWebhook(secret, { id, timestamp, body });
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    expect(() => new StockSigner(secret).verify(body, headers)).not.toThrow();
  });
});
