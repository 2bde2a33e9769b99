import type { CatalogueEntry } from './catalogue-entry.ts';

/** What an `Idempotency-Key` can lead to. A part of the failure catalogue. */
export const idempotencyFailures = {
  idempotency_key_in_use: {
    title: 'A request with this Idempotency-Key is being carried out',
    cause: 'Another request with the same `Idempotency-Key` has not ended yet. Nothing was done for this one.',
    remedy: 'Send the same request again after the time in `Retry-After`: it gets the answer of the first.',
    fault: 'partner',
    status: 409,
  },
  idempotency_key_reused: {
    title: 'The Idempotency-Key was used for another request',
    cause:
      'In the last 24 hours another request was accepted with the same `Idempotency-Key`: with another body, operation, id or customer.',
    remedy: 'Use a new key for each new request, and the same one only to send the same request again.',
    fault: 'partner',
    status: 422,
  },
} as const satisfies Record<string, CatalogueEntry>;
