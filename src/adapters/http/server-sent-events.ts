import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { Failure } from '../../domain/failure.ts';
import type { Subscription } from '../../usecases/follow/subscriptions.ts';
import { recheckAccess } from './access-recheck.ts';
import { type Representation, type Resource, beginWait, closeOnDisconnect, setCaching } from './conditional-get.ts';

/** Interval between keep-alive comments, which prevent proxies from closing an idle connection. */
const heartbeatMs = 15_000;
/** Minimum interval between two `progress` events. */
const intervalMs = 1_000;
/** Reconnection delay sent to the client. */
const retryMs = 1_000;

export type StreamDeps = {
  /** Maximum duration of a stream, after which the client reconnects. */
  readonly streamSeconds: number;
};

/** Streams the record as server-sent events: its current state, each change, and its final state. */
export async function streamEvents<State, Rec>(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource<State, Rec>,
  { streamSeconds }: StreamDeps,
): Promise<Readable | undefined> {
  const subscription = resource.subscribe('changes');
  if (!subscription) throw new Failure('too_many_streams', 'The maximum number of open streams has been reached.');
  closeOnDisconnect(reply, subscription);
  try {
    const first = await subscription.fresh();
    if (first === null) throw resource.notFound();
    const { isFinal, tag } = resource.represent(first);
    const lastId = request.headers['last-event-id']?.toString();
    setCaching(reply);
    if (isFinal && tag === lastId) {
      // There are no more events. Status 204 prevents an EventSource from reconnecting automatically.
      subscription.close();
      reply.code(204);
      return undefined;
    }
    reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      // Disables buffering in nginx.
      .header('x-accel-buffering', 'no')
      .header('connection', 'close');
    beginWait(request);
    recheckAccess(request, { isOver: subscription.isOver, onDenied: subscription.close });
    const endsAt = performance.now() + streamSeconds * 1000;
    return Readable.from(events(subscription, resource.represent, { lastId, endsAt }));
  } catch (error) {
    subscription.close();
    throw error;
  }
}

/**
 * Reads the next state only after the previous event has been sent. A slow client therefore skips states and uses no
 * additional memory.
 */
async function* events<State, Rec>(
  subscription: Subscription<State>,
  represent: (state: State) => Representation<Rec>,
  { lastId, endsAt }: { readonly lastId: string | undefined; readonly endsAt: number },
): AsyncGenerator<string> {
  let sentTag = lastId;
  try {
    yield `retry: ${retryMs}\n\n`;
    while (!subscription.isOver() && !subscription.isGone() && performance.now() < endsAt) {
      const timeout = Math.min(heartbeatMs, endsAt - performance.now());
      const state = await subscription.next((next) => represent(next).tag !== sentTag, timeout);
      if (state === null) {
        yield ':\n\n';
        continue;
      }
      const { tag, isFinal, json } = represent(state);
      sentTag = tag;
      yield `event: ${isFinal ? 'done' : 'progress'}\nid: ${tag}\ndata: ${json()}\n\n`;
      if (isFinal) return;
      await subscription.next((next) => represent(next).isFinal, intervalMs);
    }
  } finally {
    subscription.close();
  }
}
