import type { FastifyReply } from 'fastify';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Api } from './api.ts';

const always = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  // Answers are a partner's own: nothing between us and it may keep them. A route may say otherwise.
  'cache-control': 'no-store',
} as const;

const overTls = { 'strict-transport-security': 'max-age=31536000' } as const;

/** What an answer on this connection carries to be safe in a browser and in caches. */
export function securityHeaders(socket: Socket): Readonly<Record<string, string>> {
  // Only where Inlet itself ends TLS: a proxy that does has to say so itself.
  return socket instanceof TLSSocket ? { ...always, ...overTls } : always;
}

/** Leaves alone what the route has set. */
export function setSecurityHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(securityHeaders(reply.raw.socket ?? reply.request.raw.socket))) {
    if (!reply.hasHeader(name)) reply.header(name, value);
  }
}

export function addSecurityHeaders(api: Api): void {
  api.addHook('onSend', async (_request, reply) => setSecurityHeaders(reply));
}
