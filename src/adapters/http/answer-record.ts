import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Failure } from '../../domain/failure.ts';
import type { Following } from '../../usecases/following.ts';
import type { Wants } from '../../usecases/follow-topic.ts';
import { entityTag, isNamed, readIfNoneMatch } from './entity-tags.ts';
import { readWait } from './preferences.ts';
import type { Shown } from './shown-record.ts';
import { beginWaiting } from './waiting-time.ts';
import { whileAllowed } from './while-allowed.ts';

/** One record of the caller, to be read once or to be followed. */
export type Followable<State, Rec> = {
  /** Fails when there is no such record. */
  readonly read: () => Promise<State>;
  readonly follow: (wants: Wants) => Following<State> | null;
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
export function closeWithCaller(reply: FastifyReply, following: Pick<Following<unknown>, 'close'>): void {
  if (reply.raw.destroyed) following.close();
  else reply.raw.once('close', following.close);
}
