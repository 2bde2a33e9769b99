// Signs and verifies webhooks as in Standard Webhooks 1.0.0. Uses Web Crypto, so it works in every runtime.

const toleranceSeconds = 5 * 60;

/** The message was not sent by Inlet, was changed in transit, or is too old. */
export class InvalidWebhook extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidWebhook';
  }
}

/** A `Headers` object, or the headers of a Node.js request. */
export type WebhookHeaders =
  | { readonly get: (name: string) => string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The signed content: the ID, the time in seconds, and the exact bytes of the body. */
type Message = { readonly id: string; readonly timestamp: string; readonly body: Uint8Array };

/**
 * Throws `InvalidWebhook` unless one of the signatures matches and the message is at most five minutes old.
 * Web Crypto compares signatures in constant time.
 */
export async function verifySignature(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  now: Date = new Date(),
): Promise<void> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now.getTime() / 1000 - seconds) <= toleranceSeconds))
    throw new InvalidWebhook('The webhook-timestamp is more than five minutes away from the current time.');
  const key = await importKey(secret, 'verify');
  const message = contentOf({ id, timestamp, body: bytesOf(rawBody) });
  for (const signature of signatures) {
    const [version, text = ''] = signature.split(',');
    const bytes = version === 'v1' ? fromBase64(text) : null;
    if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, message))) return;
  }
  throw new InvalidWebhook('No signature in webhook-signature matches the body and the secret.');
}

/** Returns the value of the header `webhook-signature`. */
export async function signWebhook(
  secret: string,
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: string },
): Promise<string> {
  const key = await importKey(secret, 'sign');
  const signature = await crypto.subtle.sign('HMAC', key, contentOf({ id, timestamp, body: bytesOf(body) }));
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`;
}

type HeadersLike = Extract<WebhookHeaders, { readonly get: (name: string) => string | null }>;

function isHeaders(headers: WebhookHeaders): headers is HeadersLike {
  return typeof headers['get'] === 'function';
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') throw new InvalidWebhook(`The header ${name} is missing.`);
  return value;
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? new TextEncoder().encode(text) : text;
}

function contentOf({ id, timestamp, body }: Message): Uint8Array<ArrayBuffer> {
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(prefix.length + body.length);
  content.set(prefix);
  content.set(body, prefix.length);
  return content;
}

/** The browser and Node.js name this type differently. */
type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

async function importKey(secret: string, use: 'sign' | 'verify'): Promise<SigningKey> {
  const bytes = secret.startsWith('whsec_') ? fromBase64(secret.slice('whsec_'.length)) : null;
  if (!bytes || bytes.length === 0) throw new TypeError('secret must be the secret of a webhook (whsec_…)');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
}

/** Returns null for text that is not base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
