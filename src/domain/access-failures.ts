import type { CatalogueEntry } from './catalogue-entry.ts';

/** What a caller who is known may still not do. A part of the failure catalogue. */
export const accessFailures = {
  scope_missing: {
    title: 'The API key is not for this',
    cause: 'The key is valid, but does not have the scope that the operation needs. `detail` names it.',
    remedy: 'Use a key that has the scope, or ask the operator for one: `inlet key create --scope <scope>`.',
    fault: 'partner',
    status: 403,
  },
} as const satisfies Record<string, CatalogueEntry>;
