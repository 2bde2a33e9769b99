import { Failure } from '../../domain/failure.ts';
import { type RequestLimits, requestWindowSeconds } from '../../domain/limits.ts';
import {
  type Quota,
  type QuotaName,
  type RequestLimiter,
  limitOf,
  quotaNamesOf,
} from '../../usecases/access/limit-requests.ts';
import type { Api } from './api.ts';
import { callerOf } from './authentication.ts';

/** Call after `addAuthentication`. Every response reports the remaining quota. */
export function addRequestLimit(
  api: Api,
  deps: { requestLimiter: RequestLimiter; requestLimits: RequestLimits },
): void {
  const policyOf = (name: QuotaName): string =>
    `"${name}";q=${limitOf(name, deps.requestLimits)};w=${requestWindowSeconds}`;
  api.addHook('onRequest', async (request, reply) => {
    const caller = callerOf(request);
    const { exceeded, quotas } = await deps.requestLimiter.admit(caller);
    reply.header('ratelimit-policy', quotaNamesOf(caller).map(policyOf).join(', '));
    if (quotas.length > 0) reply.header('ratelimit', quotas.map(rateLimitItem).join(', '));
    if (!exceeded) return;
    reply.header('retry-after', String(exceeded.secondsLeft));
    throw new Failure(
      'too_many_requests',
      `${holders[exceeded.name]} made ${exceeded.limit} requests in this minute, which is the limit.`,
    );
  });
}

const holders: Readonly<Record<QuotaName, string>> = {
  key: 'This key has',
  partner: "All of this partner's keys together have",
  session: 'Your sessions in the console have',
  audience: 'All readers of this report together have',
  sessions: "All of this partner's sessions in the console have",
};

/**
 * One item of the `RateLimit` header (draft-ietf-httpapi-ratelimit-headers): remaining requests and seconds until the
 * window resets.
 */
function rateLimitItem({ name, remaining, secondsLeft }: Quota): string {
  return `"${name}";r=${remaining};t=${secondsLeft}`;
}
