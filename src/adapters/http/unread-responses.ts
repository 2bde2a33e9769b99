import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PartnerId } from '../../domain/ids.ts';
import { Failure } from '../../domain/failure.ts';
import type { Api } from './api.ts';
import { findPartnerOf } from './authentication.ts';
import { problemPayload } from './problems.ts';

/** Maximum number of response bytes that this process keeps in memory because clients have not read them yet. */
type UnreadLimits = { readonly perPartner: number; readonly perProcess: number };

const unreadLimits: UnreadLimits = { perPartner: 16 * 1024 * 1024, perProcess: 128 * 1024 * 1024 };

/** Most responses are shorter than this. They are not counted, because the rate limit already bounds them. */
const minCountedBytes = 4_096;

/**
 * Limits the memory that unread responses occupy. A client can send many requests on one connection without reading any
 * response. Above the limit, the response to a GET is replaced by a short 429 or 503. Responses from routes that
 * require no API key are not counted, because they all share the same bytes (see reference.ts). Event streams have
 * their own limit.
 */
export function addUnreadLimit(api: Api, { perPartner, perProcess }: UnreadLimits = unreadLimits): void {
  let total = 0;
  const byPartner = new Map<PartnerId, number>();
  const add = (partnerId: PartnerId, bytes: number): void => {
    total += bytes;
    const ofPartner = (byPartner.get(partnerId) ?? 0) + bytes;
    if (ofPartner === 0) byPartner.delete(partnerId);
    else byPartner.set(partnerId, ofPartner);
  };
  api.addHook('onSend', async (request, reply, payload) => {
    const bytes = sizeOf(payload);
    const partnerId = findPartnerOf(request)?.id;
    // If the connection is already lost, no further `close` is emitted, and no bytes are kept in memory.
    if (bytes < minCountedBytes || partnerId === undefined || reply.raw.destroyed) return payload;
    const isOverPartner = (byPartner.get(partnerId) ?? 0) + bytes > perPartner;
    const isOver = isOverPartner || total + bytes > perProcess;
    // Writes are exempt, because their responses are short and their effects are already stored.
    if (isOver && request.method === 'GET') return refuse(request, reply, isOverPartner);
    add(partnerId, bytes);
    // `close` is emitted after the response ends and also when the connection is lost.
    reply.raw.once('close', () => add(partnerId, -bytes));
    return payload;
  });
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return payload instanceof Uint8Array ? payload.byteLength : 0;
}

function refuse(request: FastifyRequest, reply: FastifyReply, isOverPartner: boolean): string {
  const failure = isOverPartner
    ? new Failure(
        'too_many_requests',
        'Too many responses have not been read. Read them before you send more requests.',
      )
    : new Failure('unavailable', 'The service is sending too many responses.');
  for (const name of ['etag', 'link', 'content-length']) reply.removeHeader(name);
  return problemPayload(failure, request, reply);
}
