import type { Event } from './generated/schemas.ts';
import { type WebhookHeaders, InvalidWebhook, verifySignature } from './webhook-signature.ts';

/**
 * Returns the event in a webhook request. Throws `InvalidWebhook` unless the request was signed with the secret within
 * the last five minutes. `rawBody` must contain the exact bytes of the body, before any parsing.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Promise<Event> {
  await verifySignature(rawBody, headers, secret);
  const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);
  const event: unknown = JSON.parse(text);
  if (isEvent(event)) return event;
  throw new InvalidWebhook('The body is not an event.');
}

/** The signature proves that Inlet wrote the body, so its fields are not checked again. */
function isEvent(value: unknown): value is Event {
  return typeof value === 'object' && value !== null && 'type' in value && 'sequence' in value;
}
