import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { Failure } from '../../domain/failure.ts';
import type { Subscription } from '../../usecases/follow/subscriptions.ts';
import { type Followable, type Shown, beginWaiting, closeWithCaller, setCaching } from './answer-record.ts';
import { whileAllowed } from './while-allowed.ts';

/** Proxies end connections on which nothing is said. */
const heartbeatMs = 15_000;
/** Between two events of a stream, but the last. */
const betweenMs = 1_000;
/** After which a client comes back. */
const retryMs = 1_000;

export type StreamDeps = {
  /** How long a stream lasts at most; its client then comes back. */
  readonly streamSeconds: number;
};

/** The record as server-sent events: as it is, each change, and at last that it is final. */
export async function answerEvents<State, Rec>(
  request: FastifyRequest,
  reply: FastifyReply,
  of: Followable<State, Rec>,
  { streamSeconds }: StreamDeps,
): Promise<Readable | undefined> {
  const following = of.follow('changes');
  if (!following) throw new Failure('too_many_streams', 'There is no place left for another stream.');
  closeWithCaller(reply, following);
  try {
    const first = await following.fresh();
    if (first === null) throw of.missing();
    const { isFinal, tag } = of.shown(first);
    const lastId = request.headers['last-event-id']?.toString();
    setCaching(reply);
    if (isFinal && tag === lastId) {
      // Nothing will come any more. A client that comes back by itself is told so by this status, and stays away.
      following.close();
      reply.code(204);
      return undefined;
    }
    reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      // nginx would keep events back.
      .header('x-accel-buffering', 'no')
      .header('connection', 'close');
    beginWaiting(request);
    whileAllowed(request, { isOver: following.isOver, onRefused: following.close });
    return Readable.from(events(following, of.shown, { lastId, endsAt: performance.now() + streamSeconds * 1000 }));
  } catch (error) {
    following.close();
    throw error;
  }
}

/** Goes on when what it gave was taken: a slow reader misses states, and nothing is kept for it but the newest. */
async function* events<State, Rec>(
  following: Subscription<State>,
  shown: (state: State) => Shown<Rec>,
  { lastId, endsAt }: { readonly lastId: string | undefined; readonly endsAt: number },
): AsyncGenerator<string> {
  let told = lastId;
  try {
    yield `retry: ${retryMs}\n\n`;
    while (!following.isOver() && performance.now() < endsAt) {
      const patience = Math.min(heartbeatMs, endsAt - performance.now());
      const state = await following.next((next) => shown(next).tag !== told, patience);
      if (state === null) {
        yield ':\n\n';
        continue;
      }
      const { tag, isFinal, json } = shown(state);
      told = tag;
      yield `event: ${isFinal ? 'done' : 'progress'}\nid: ${tag}\ndata: ${json()}\n\n`;
      if (isFinal) return;
      await following.next((next) => shown(next).isFinal, betweenMs);
    }
  } finally {
    following.close();
  }
}
