import type { CustomFetch } from 'openid-client';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Agents } from '../guarded-agents.ts';

/** A discovery document is about 5 kB, and a key set with certificates is about 20 kB. */
const maxBytes = 256 * 1024;

/** Statuses for which a `Response` has no body. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** Connects only through the agents, follows no redirects, and limits the size of the response. */
export function guardedFetch(agents: Agents): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const payload = body instanceof URLSearchParams ? body.toString() : body;
    if (payload !== undefined && payload !== null && typeof payload !== 'string')
      throw new TypeError('only text can be sent to the issuer');
    const response = await send(new URL(url), agents, { method, headers, signal }, payload ?? undefined);
    try {
      const bytes = await readAll(response);
      const status = response.statusCode ?? 500;
      return new Response(withoutBody.has(status) ? null : Uint8Array.from(bytes), {
        status,
        headers: Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        ),
      });
    } finally {
      response.destroy();
    }
  };
}

type Sent = {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal | undefined;
};

function send(
  url: URL,
  { http, https }: Agents,
  { method, headers, signal }: Sent,
  payload: string | undefined,
): Promise<IncomingMessage> {
  const options = { method, headers, ...(signal ? { signal } : {}) };
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? requestSecure(url, { ...options, agent: https }, resolve)
        : requestPlain(url, { ...options, agent: http }, resolve);
    sent.on('error', reject).end(payload);
  });
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) throw new Error('the issuer returned no bytes');
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the issuer returned more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
