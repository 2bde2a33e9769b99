import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from './event.ts';
import { parseNetwork } from './network-address.ts';
import { isFor, toWebhookUrl } from './webhook.ts';

const outside = { allowsHttp: false, networks: [] };
const inside = { allowsHttp: true, networks: [parseNetwork('127.0.0.0/8') ?? { first: 0n, freeBits: 0n }] };

describe('the URL of a webhook', () => {
  it.each(['https://example.com/hooks?a=1', 'https://example.com:8443/', 'https://8.8.8.8/'])('accepts %s', (url) => {
    expect(toWebhookUrl(url, outside)).toBe(url);
  });

  it.each([
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'example.com/hooks',
    'https://user:password@example.com/',
    'https://user@example.com/',
    'https://example.com/#fragment',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://10.0.0.1/',
    `https://example.com/${'x'.repeat(2_000)}`,
  ])('rejects %s', (url) => {
    expect(() => toWebhookUrl(url, outside)).toThrow('The URL of a webhook is invalid.');
  });

  it('can use HTTP and a private address if the settings allow both', () => {
    expect(toWebhookUrl('http://127.0.0.1:3000/', inside)).toBe('http://127.0.0.1:3000/');
    expect(() => toWebhookUrl('http://10.0.0.1/', inside)).toThrow('invalid');
  });
});

describe('the events of a webhook', () => {
  const common = { id: 'evt_1', sequence: 1, customer: null, createdAt: new Date() };
  const cleared: LoggedEvent = {
    ...common,
    type: 'audience.cleared',
    data: { audienceId: 1, warehouseSegmentId: 2 },
  };
  const test: LoggedEvent = { ...common, type: 'webhook.test', data: { webhookId: 7 } };

  it('are all events, or those of the selected types', () => {
    expect(isFor(cleared, { id: 7, eventTypes: null })).toBe(true);
    expect(isFor(cleared, { id: 7, eventTypes: ['audience.cleared'] })).toBe(true);
    expect(isFor(cleared, { id: 7, eventTypes: ['import.finished'] })).toBe(false);
  });

  it('include only tests of this webhook', () => {
    expect(isFor(test, { id: 7, eventTypes: ['import.finished'] })).toBe(true);
    expect(isFor(test, { id: 8, eventTypes: null })).toBe(false);
  });
});
