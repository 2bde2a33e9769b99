import { Failure } from '../../domain/failure.ts';
import { type RequestLimits, requestWindowSeconds } from '../../domain/limits.ts';
import type { Quota, RequestLimiter } from '../../usecases/access/limit-requests.ts';
import type { Api } from './api.ts';
import { callerOf } from './authentication.ts';

/** Goes into the authenticated scope, after `addAuthentication`. Every answer tells what is left of the limits. */
export function addRequestLimit(
  api: Api,
  deps: { requestLimiter: RequestLimiter; requestLimits: RequestLimits },
): void {
  const { perKey, perPartner } = deps.requestLimits;
  const policy = [`"key";q=${perKey};w=${requestWindowSeconds}`, `"partner";q=${perPartner};w=${requestWindowSeconds}`];
  api.addHook('onRequest', async (request, reply) => {
    const { refusedBy, quotas } = await deps.requestLimiter.admit(callerOf(request));
    reply.header('ratelimit-policy', policy.join(', '));
    if (quotas.length > 0) reply.header('ratelimit', quotas.map(rateLimitItem).join(', '));
    if (!refusedBy) return;
    reply.header('retry-after', String(refusedBy.secondsLeft));
    const who = refusedBy.name === 'key' ? 'This key has' : 'All keys of this partner together have';
    throw new Failure(
      'too_many_requests',
      `${who} made ${refusedBy.limit} requests in this minute, which is the most.`,
    );
  });
}

/** draft-ietf-httpapi-ratelimit-headers: the requests left, and the seconds until there are all of them again. */
function rateLimitItem({ name, remaining, secondsLeft }: Quota): string {
  return `"${name}";r=${remaining};t=${secondsLeft}`;
}
