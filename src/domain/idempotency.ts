/** A request that the caller can repeat safely. It runs once, and every repetition gets the same response. */
export type IdempotentRequest = {
  /** The caller's idempotency key. Keys are scoped to a partner. */
  readonly key: string;
  /** Fingerprints of the request. The first uses the current secret and is stored. The others use older secrets. */
  readonly fingerprints: readonly [Uint8Array, ...Uint8Array[]];
  /** Called when a stored response is returned instead of running the request. */
  readonly onReplay: () => void;
};

/** Decision 31. After this time, the key can be used for a new request. */
export const acceptedRequestHours = 24;

/** Serializes a value as JSON with sorted fields. Omits undefined fields. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => (isRecord(inner) ? sortedByName(inner) : inner));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sortedByName(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
