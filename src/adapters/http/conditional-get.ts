import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import type { Failure } from '../../domain/failure.ts';
import { type JobStatus, jobStatus } from '../../domain/job.ts';
import type { Subscription, SubscriptionMode } from '../../usecases/follow/subscriptions.ts';
import { recheckAccess } from './access-recheck.ts';

/** One of the caller's records, which can be read and subscribed to. */
export type Resource<State, Rec> = {
  /** Fails if the record does not exist. */
  readonly read: () => Promise<State>;
  /** Null if the maximum number of subscribers is reached. */
  readonly subscribe: (interest: SubscriptionMode) => Subscription<State> | null;
  readonly notFound: () => Failure;
  readonly represent: (state: State) => Representation<Rec>;
};

/** A record as the API returns it, with its entity tag. */
export type Representation<Rec> = {
  readonly record: Rec;
  /** The entity tag without quotes. Used in the `ETag` header and as the event ID. */
  readonly tag: string;
  readonly isFinal: boolean;
  readonly json: () => string;
  /** The `Link` header, or null if the record is complete. */
  readonly link: string | null;
};

/** Clients may cache the response but must revalidate it. Shared caches must not store it. */
export function setCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'private, no-cache').header('vary', 'Authorization, x-user-token, Cookie');
}

/**
 * Responds to a conditional GET. The status is 304 if `If-None-Match` contains the current ETag. `Prefer: wait` enables
 * long polling.
 */
export async function answerConditionalGet<State, Rec>(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource<State, Rec>,
): Promise<Rec | undefined> {
  const known = readIfNoneMatch(request.headers['if-none-match']);
  const seconds = readWait(request.headers['prefer']?.toString());
  // `*` matches every ETag, so no change would ever end the wait.
  const waits = seconds !== null && known !== 'any';
  const isNews = ({ tag, isFinal }: Representation<Rec>): boolean => (known ? !isNamed(tag, known) : isFinal);
  const { record, tag, link } = waits
    ? await longPoll(request, reply, resource, { seconds, isNews, interest: known ? 'changes' : 'end' })
    : resource.represent(await resource.read());
  setCaching(reply);
  reply.header('etag', entityTag(tag));
  if (link !== null) reply.header('link', link);
  if (!isNamed(tag, known)) return record;
  reply.code(304);
  return undefined;
}

/** Ignores the preference if the maximum number of subscribers is reached (RFC 7240, section 2). */
async function longPoll<State, Rec>(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource<State, Rec>,
  {
    seconds,
    isNews,
    interest,
  }: { seconds: number; isNews: (representation: Representation<Rec>) => boolean; interest: SubscriptionMode },
): Promise<Representation<Rec>> {
  const subscription = resource.subscribe(interest);
  if (!subscription) return resource.represent(await resource.read());
  closeOnDisconnect(reply, subscription);
  try {
    const first = await subscription.fresh();
    if (first === null) throw resource.notFound();
    reply.header('preference-applied', `wait=${seconds}`);
    if (isNews(resource.represent(first))) return resource.represent(first);
    const endWait = beginWait(request);
    const denials: Failure[] = [];
    recheckAccess(request, {
      isOver: subscription.isOver,
      onDenied: (denial) => {
        denials.push(denial);
        subscription.close();
      },
    });
    const news = await subscription.next((state) => isNews(resource.represent(state)), seconds * 1000);
    endWait();
    for (const denial of denials) throw denial;
    if (subscription.isGone()) throw resource.notFound();
    // The process is shutting down, so the client must reconnect to another process.
    if (subscription.isOver()) reply.header('connection', 'close');
    return resource.represent(news ?? (await subscription.fresh()) ?? first);
  } finally {
    subscription.close();
  }
}

export function closeOnDisconnect(reply: FastifyReply, subscription: Pick<Subscription<unknown>, 'close'>): void {
  if (reply.raw.destroyed) subscription.close();
  else reply.raw.once('close', subscription.close);
}

/**
 * Computes the representation of each state once, regardless of the number of subscribers. `essence` selects the data
 * from which the ETag is computed. It omits fields that change as time passes.
 */
export function memoizeRepresentation<State extends object, Rec extends { readonly status: JobStatus }>(
  recordOf: (state: State) => Rec,
  essence: (record: Rec) => object = (record) => record,
  linkOf: (state: State) => string | null = () => null,
): (state: State) => Representation<Rec> {
  const cache = new WeakMap<State, Representation<Rec>>();
  const compute = (state: State): Representation<Rec> => {
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
      link: linkOf(state),
    };
  };
  return (state) => {
    const representation = cache.get(state) ?? compute(state);
    cache.set(state, representation);
    return representation;
  };
}

type Wait = { waitedMs: number; since: number | null };

const waits = new WeakMap<FastifyRequest, Wait>();

/** Starts measuring the client-requested wait for a change. Call the returned function to stop. */
export function beginWait(request: FastifyRequest): () => void {
  const wait = waits.get(request) ?? { waitedMs: 0, since: null };
  wait.since = performance.now();
  waits.set(request, wait);
  return () => {
    wait.waitedMs = waitedMs(request);
    wait.since = null;
  };
}

/** Returns the duration of the client-requested wait for a change. Latency metrics exclude it. */
export function waitedMs(request: FastifyRequest): number {
  const { waitedMs: before, since } = waits.get(request) ?? { waitedMs: 0, since: null };
  return since === null ? before : before + performance.now() - since;
}

// Implements RFC 9110, sections 8.8.3 and 13.1.2. All tags are weak, because responses with equal tags can differ in
// their bytes.

function entityTag(opaque: string): string {
  return `W/"${opaque}"`;
}

/** The tags in an `If-None-Match` header, without `W/` and quotes. */
export type NamedTags = 'any' | ReadonlySet<string>;

/** No quantifier can match the character that follows it, so matching takes linear time. */
const tagElement = /[ \t]*(?:(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;

/** Returns null if the header is absent or malformed. */
export function readIfNoneMatch(header: string | undefined): NamedTags | null {
  if (header === undefined) return null;
  if (header.trim() === '*') return 'any';
  const tags = new Set<string>();
  tagElement.lastIndex = 0;
  while (tagElement.lastIndex < header.length) {
    const found = tagElement.exec(header);
    if (!found) return null;
    if (found[1] !== undefined) tags.add(found[1]);
  }
  return tags.size === 0 ? null : tags;
}

export function isNamed(opaque: string, tags: NamedTags | null): boolean {
  return tags === 'any' || tags?.has(opaque) === true;
}

/** Maximum wait per request. Clients that want to wait longer must repeat the request. */
const maxWaitSeconds = 60;

/**
 * Matches one preference with its parameters, up to the next unquoted comma. The pattern is unambiguous, so matching
 * takes linear time.
 */
const preferenceElement = /([^,"]*(?:"(?:[^"\\]|\\.)*"[^,"]*)*)(?:,|$)/y;
const waitValue = /^wait[ \t]*=[ \t]*(?:"(\d+)"|(\d+))[ \t]*(?:;|$)/i;

/** Reads `wait` from a `Prefer` header (RFC 7240), in seconds. Null if it is absent or malformed. */
export function readWait(header: string | undefined): number | null {
  for (const preference of preferencesIn(header ?? '')) {
    if (!/^wait[ \t]*(?:[=;]|$)/i.test(preference)) continue;
    // If `wait` occurs more than once, the first value applies.
    const [, quoted, plain] = waitValue.exec(preference) ?? [];
    const seconds = Math.min(Number(quoted ?? plain ?? 0), maxWaitSeconds);
    return seconds > 0 ? seconds : null;
  }
  return null;
}

function* preferencesIn(header: string): Generator<string> {
  preferenceElement.lastIndex = 0;
  for (let at = 0; at < header.length; at = preferenceElement.lastIndex) {
    preferenceElement.lastIndex = at;
    const found = preferenceElement.exec(header);
    if (!found) return;
    yield (found[1] ?? '').trim();
  }
}
