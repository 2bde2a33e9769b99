import { createHash } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import { requestWindowSeconds, type RequestLimits } from '../../domain/request-limits.ts';
import { findPartnerOf } from './authentication.ts';
import type { Api } from './server.ts';
import { countWrongKeys } from './wrong-key-counts.ts';

/** So many good keys are remembered; one that was forgotten may have to wait like a stranger's. */
const mostKnown = 10_000;

/**
 * Whoever sent too many wrong keys from an address waits, and nobody is asked about its keys meanwhile. A key that this
 * process has seen to be good is let through all the same, else a stranger could lock out whoever shares its address. To be
 * called before `addAuthentication`; `addGoodKeys` after it.
 */
export function limitWrongKeys({ wrongKeysPerAddress }: RequestLimits) {
  const counts = countWrongKeys(wrongKeysPerAddress, requestWindowSeconds);
  const known = new Set<string>();
  return {
    addWrongKeyLimit: (api: Api): void => {
      api.addHook('onRequest', async ({ headers: { authorization }, ip }, reply) => {
        if (authorization === undefined) return;
        const seconds = counts.secondsToWait(ip);
        if (seconds === null || known.has(hashOf(authorization))) return;
        reply.header('ratelimit-policy', `"wrong-keys";q=${wrongKeysPerAddress};w=${requestWindowSeconds}`);
        reply.header('ratelimit', `"wrong-keys";r=0;t=${seconds}`);
        reply.header('retry-after', String(seconds));
        throw new Failure('too_many_requests', 'Too many requests with a wrong key came from this address.');
      });
      api.addHook('onSend', async (request, { statusCode }) => {
        const isWrongKey = statusCode === 401 && !findPartnerOf(request);
        if (isWrongKey && request.headers.authorization !== undefined) counts.note(request.ip);
      });
    },
    addGoodKeys: (api: Api): void => {
      api.addHook('onRequest', async ({ headers: { authorization = '' } }) => {
        known.add(hashOf(authorization));
        const [oldest] = known;
        if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
      });
    },
  };
}

/** So that no key stays in memory. */
function hashOf(authorization: string): string {
  return createHash('sha256').update(authorization).digest('base64');
}
