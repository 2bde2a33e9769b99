import type { FastifyReply } from 'fastify';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Api } from './api.ts';

const always = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  // A response is for one partner only, so caches must not store it. A route can override this header.
  'cache-control': 'no-store',
} as const;

const overTls = { 'strict-transport-security': 'max-age=31536000' } as const;

/** Headers that protect a response in browsers and caches. */
export function securityHeaders(socket: Socket): Readonly<Record<string, string>> {
  // Add the TLS headers only if Inlet terminates TLS itself. Otherwise, the TLS proxy adds them.
  return socket instanceof TLSSocket ? { ...always, ...overTls } : always;
}

/** Keeps headers that the route has set. */
export function setSecurityHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(securityHeaders(reply.raw.socket ?? reply.request.raw.socket))) {
    if (!reply.hasHeader(name)) reply.header(name, value);
  }
}

export function addSecurityHeaders(api: Api): void {
  api.addHook('onSend', async (_request, reply) => setSecurityHeaders(reply));
}
