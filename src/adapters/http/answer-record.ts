import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import type { Failure } from '../../domain/failure.ts';
import { type JobStatus, jobStatus } from '../../domain/job.ts';
import type { Subscription, Wants } from '../../usecases/follow/subscriptions.ts';
import { entityTag, isNamed, readIfNoneMatch } from './entity-tags.ts';
import { readWait } from './preferences.ts';
import { whileAllowed } from './while-allowed.ts';

/** One record of the caller, to be read once or to be followed. */
export type Followable<State, Rec> = {
  /** Fails when there is no such record. */
  readonly read: () => Promise<State>;
  readonly follow: (wants: Wants) => Subscription<State> | null;
  readonly missing: () => Failure;
  readonly shown: (state: State) => Shown<Rec>;
};

/** Whoever has an answer may keep it, but asks before each use; and never gives it to another caller. */
export function setCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'private, no-cache').header('vary', 'Authorization, x-user-token');
}

/** The record with its tag; 304 when `If-None-Match` names it. With `Prefer: wait` it waits for something to tell. */
export async function answerRecord<State, Rec>(
  request: FastifyRequest,
  reply: FastifyReply,
  of: Followable<State, Rec>,
): Promise<Rec | undefined> {
  const known = readIfNoneMatch(request.headers['if-none-match']);
  const seconds = readWait(request.headers['prefer']?.toString());
  // Whatever becomes of it, "any" knows it already.
  const waits = seconds !== null && known !== 'any';
  const isNews = ({ tag, isFinal }: Shown<Rec>): boolean => (known ? !isNamed(tag, known) : isFinal);
  const { record, tag } = waits
    ? await waitForNews(request, reply, of, { seconds, isNews, wants: known ? 'changes' : 'end' })
    : of.shown(await of.read());
  setCaching(reply);
  reply.header('etag', entityTag(tag));
  if (!isNamed(tag, known)) return record;
  reply.code(304);
  return undefined;
}

/** Where there is no place to wait it is answered at once, as if the preference were not there (RFC 7240, 2). */
async function waitForNews<State, Rec>(
  request: FastifyRequest,
  reply: FastifyReply,
  of: Followable<State, Rec>,
  { seconds, isNews, wants }: { seconds: number; isNews: (shown: Shown<Rec>) => boolean; wants: Wants },
): Promise<Shown<Rec>> {
  const following = of.follow(wants);
  if (!following) return of.shown(await of.read());
  closeWithCaller(reply, following);
  try {
    const first = await following.fresh();
    if (first === null) throw of.missing();
    reply.header('preference-applied', `wait=${seconds}`);
    if (isNews(of.shown(first))) return of.shown(first);
    const endWaiting = beginWaiting(request);
    const refused: Failure[] = [];
    const onRefused = (why: Failure): void => {
      refused.push(why);
      following.close();
    };
    whileAllowed(request, { isOver: following.isOver, onRefused });
    const news = await following.next((state) => isNews(of.shown(state)), seconds * 1000);
    endWaiting();
    for (const why of refused) throw why;
    // The process ends: whoever is answered now has to come back to another one.
    if (following.isOver()) reply.header('connection', 'close');
    return of.shown(news ?? (await following.fresh()) ?? first);
  } finally {
    following.close();
  }
}

/** Whoever hangs up gives its place back. */
export function closeWithCaller(reply: FastifyReply, following: Pick<Subscription<unknown>, 'close'>): void {
  if (reply.raw.destroyed) following.close();
  else reply.raw.once('close', following.close);
}

/** A record as it is answered, with the tag of what it says. */
export type Shown<Rec> = {
  readonly record: Rec;
  /** Without quotes: of the record's header `ETag`, and the id of its event. */
  readonly tag: string;
  readonly isFinal: boolean;
  readonly json: () => string;
};

/**
 * Made once of each state, however many are told of it. `essence` is what the tag is made of: equal records have equal
 * tags, and what the passing of time alone changes may be left out.
 */
export function memoizeShown<State extends object, Rec extends { readonly status: JobStatus }>(
  recordOf: (state: State) => Rec,
  essence: (record: Rec) => object = (record) => record,
): (state: State) => Shown<Rec> {
  const made = new WeakMap<State, Shown<Rec>>();
  const make = (state: State): Shown<Rec> => {
    const record = recordOf(state);
    let json: string | undefined;
    return {
      record,
      tag: createHash('sha256')
        .update(JSON.stringify(essence(record)))
        .digest('base64url')
        .slice(0, 22),
      isFinal: record.status === jobStatus.done || record.status === jobStatus.failed,
      json: () => (json ??= JSON.stringify(record)),
    };
  };
  return (state) => {
    const shown = made.get(state) ?? make(state);
    made.set(state, shown);
    return shown;
  };
}

type Waiting = { waitedMs: number; since: number | null };

const waits = new WeakMap<FastifyRequest, Waiting>();

/** From now on the caller gets what it asked for by waiting; until the function is called, or the request is over. */
export function beginWaiting(request: FastifyRequest): () => void {
  const waiting = waits.get(request) ?? { waitedMs: 0, since: null };
  waiting.since = performance.now();
  waits.set(request, waiting);
  return () => {
    waiting.waitedMs = waitedMs(request);
    waiting.since = null;
  };
}

/** How long the request has waited on purpose: no part of how fast it was answered. */
export function waitedMs(request: FastifyRequest): number {
  const { waitedMs: before, since } = waits.get(request) ?? { waitedMs: 0, since: null };
  return since === null ? before : before + performance.now() - since;
}
