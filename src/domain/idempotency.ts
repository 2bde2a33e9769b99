/** A request that its caller may send again: it is carried out once, and has the same answer each time. */
export type IdempotentRequest = {
  /** What the caller named it; another partner's request of the same name is another. */
  readonly key: string;
  /** Of what is asked for. The first is kept; the others are what an older secret would have made of it. */
  readonly fingerprints: readonly [Uint8Array, ...Uint8Array[]];
  /** Is called when it had been carried out before, and nothing was done now. */
  readonly noteReplay: () => void;
};

/** Decision 31. After that the same key is a new request. */
export const acceptedRequestHours = 24;

/** The same text for the same value, in whatever order its fields were given. What is undefined is left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => (isRecord(inner) ? sortedByName(inner) : inner));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sortedByName(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
