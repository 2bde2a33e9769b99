import type { CatalogueEntry } from './catalogue-entry.ts';

/** A part of the failure catalogue. */
export const requestLimitFailures = {
  too_many_requests: {
    title: 'There were too many requests',
    cause:
      'The key, or all keys of the partner together, made as many requests in this minute as they may; or too many requests with a wrong key came from one address.',
    remedy:
      'Wait for the seconds in `Retry-After`. `RateLimit` in every answer tells how many requests are left, `GET /v1/limits` how many there are.',
    fault: 'partner',
    status: 429,
  },
} as const satisfies Record<string, CatalogueEntry>;
