import type { Once } from '../domain/once.ts';

/** Of a request, with a secret of the service: it tells whether two are the same, and nothing else of them. */
export type Fingerprint = (request: string) => Once['fingerprints'];
