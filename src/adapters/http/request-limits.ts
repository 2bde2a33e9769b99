import { Failure } from '../../domain/failure.ts';
import { type RequestLimits, requestWindowSeconds } from '../../domain/limits.ts';
import type { Quota, RequestLimiter } from '../../usecases/access/limit-requests.ts';
import type { Api } from './api.ts';
import { callerOf } from './authentication.ts';

/** Call after `addAuthentication`. Every response reports the remaining quota. */
export function addRequestLimit(
  api: Api,
  deps: { requestLimiter: RequestLimiter; requestLimits: RequestLimits },
): void {
  const { perKey, perPartner } = deps.requestLimits;
  const policy = [`"key";q=${perKey};w=${requestWindowSeconds}`, `"partner";q=${perPartner};w=${requestWindowSeconds}`];
  api.addHook('onRequest', async (request, reply) => {
    const { exceeded, quotas } = await deps.requestLimiter.admit(callerOf(request));
    reply.header('ratelimit-policy', policy.join(', '));
    if (quotas.length > 0) reply.header('ratelimit', quotas.map(rateLimitItem).join(', '));
    if (!exceeded) return;
    reply.header('retry-after', String(exceeded.secondsLeft));
    const who = exceeded.name === 'key' ? 'This key has' : "All of this partner's keys together have";
    throw new Failure(
      'too_many_requests',
      `${who} made ${exceeded.limit} requests in this minute, which is the limit.`,
    );
  });
}

/**
 * One item of the `RateLimit` header (draft-ietf-httpapi-ratelimit-headers): remaining requests and seconds until the
 * window resets.
 */
function rateLimitItem({ name, remaining, secondsLeft }: Quota): string {
  return `"${name}";r=${remaining};t=${secondsLeft}`;
}
