/** A request that the caller can send again. It runs only once and gets the same response each time. */
export type IdempotentRequest = {
  /** The caller's idempotency key. Keys are scoped to a partner. */
  readonly key: string;
  /** Fingerprints of the request. The first is stored; the others use older secrets. */
  readonly fingerprints: readonly [Uint8Array, ...Uint8Array[]];
  /** Called when the response is replayed and nothing runs. */
  readonly onReplay: () => void;
};

/** Decision 31. After this time the same key starts a new request. */
export const acceptedRequestHours = 24;

/** Serializes a value independently of the order of its fields. Omits undefined fields. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => (isRecord(inner) ? sortedByName(inner) : inner));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sortedByName(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
