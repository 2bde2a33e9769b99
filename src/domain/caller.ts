import type { Partner } from './partner.ts';

/** Who sent a request: a partner, with one of its keys. */
export type Caller = { readonly partner: Partner; readonly keyId: number };
