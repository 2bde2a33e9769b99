import { type IncomingMessage, request as requestPlain } from 'node:http';
import { createHmac } from 'node:crypto';
import { request as requestSecure } from 'node:https';
import { type LoggedEvent, eventRecord } from '../../domain/event.ts';
import { Failure } from '../../domain/failure.ts';
import type { Secret } from '../../domain/secret.ts';
import type { AttemptError, AttemptResult, WebhookAddresses } from '../../domain/webhook.ts';
import { readRetryAfter } from '../../domain/webhook-schedule.ts';
import type { WebhookSender } from '../../ports/webhook-store.ts';
import { dnsResolve } from '../dns-resolve.ts';
import { type Agents, type Resolve, destroyAgents, guardedAgents } from '../guarded-agents.ts';

/** The body of a response is not used. It is read so that the connection can be used again. */
const maxResponseBytes = 64 * 1024;

/**
 * Sends events as HTTP requests, signed as in Standard Webhooks 1.0.0. Connects only to public addresses and the given
 * networks, and follows no redirects.
 */
export function httpWebhookSender(
  { allowsHttp, networks }: WebhookAddresses,
  timeoutMs: number,
  resolve: Resolve = dnsResolve(),
): WebhookSender & { readonly close: () => void } {
  const agents = guardedAgents(networks, resolve);
  return {
    send: async ({ url, secrets }, { event }) => {
      const at = new Date();
      const started = performance.now();
      const body = JSON.stringify(eventRecord(event));
      const headers = signedHeaders(event, { body, secrets, at });
      const signal = AbortSignal.timeout(timeoutMs);
      const ended = (): Pick<AttemptResult, 'at' | 'milliseconds'> => ({
        at,
        milliseconds: Math.round(performance.now() - started),
      });
      try {
        const address = new URL(url);
        // The setting may have changed since the webhook was created.
        if (address.protocol !== 'https:' && !allowsHttp) throw new Failure('storage_address_refused', 'HTTP');
        const response = await post(address, agents, { headers, body, signal });
        const status = response.statusCode ?? 0;
        const retryAfterSeconds = readRetryAfter(response.headers['retry-after'], new Date());
        await drain(response);
        return { ...ended(), status, error: null, retryAfterSeconds };
      } catch (error) {
        return { ...ended(), status: null, error: errorOf(error, signal), retryAfterSeconds: null };
      }
    },
    close: () => destroyAgents(agents),
  };
}

function errorOf(error: unknown, { aborted }: AbortSignal): AttemptError {
  if (aborted) return 'timeout';
  return error instanceof Failure ? 'address_refused' : 'connection_failed';
}

type Signed = { readonly body: string; readonly secrets: readonly Secret[]; readonly at: Date };

function signedHeaders(
  { id }: Pick<LoggedEvent, 'id'>,
  { body, secrets, at }: Signed,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'inlet-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

type Sent = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
};

function post(url: URL, { http, https }: Agents, { headers, body, signal }: Sent): Promise<IncomingMessage> {
  const options = { method: 'POST', headers, signal };
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? requestSecure(url, { ...options, agent: https }, resolve)
        : requestPlain(url, { ...options, agent: http }, resolve);
    sent.on('error', reject).end(body);
  });
}

/** The status determines the result of the attempt, so an incomplete body is not an error. */
async function drain(response: IncomingMessage): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of response) {
      size += Buffer.isBuffer(chunk) ? chunk.length : 0;
      if (size > maxResponseBytes) break;
    }
  } catch {
    // The timeout or the receiver has ended the response.
  } finally {
    if (!response.complete) response.destroy();
  }
}
