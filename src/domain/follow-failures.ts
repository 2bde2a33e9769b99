import type { CatalogueEntry } from './catalogue-entry.ts';

/** What following a record can be refused for. A part of the failure catalogue. */
export const followFailures = {
  too_many_streams: {
    title: 'Too many streams are open',
    cause: 'The partner, or this process of Inlet, has as many open streams and waiting requests as it may have.',
    remedy:
      'Close streams that nobody reads, follow one job at a time (the jobs of a partner end in their order), or try again after the time in `Retry-After`.',
    fault: 'partner',
    status: 429,
  },
} as const satisfies Record<string, CatalogueEntry>;
