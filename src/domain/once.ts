/** A request that its caller may send again: it is carried out once, and has the same answer each time. */
export type Once = {
  /** What the caller named it; another partner's request of the same name is another. */
  readonly key: string;
  /** Of what is asked for. The first is kept; the others are what an older secret would have made of it. */
  readonly fingerprints: readonly [Uint8Array, ...Uint8Array[]];
  /** Is called when it had been carried out before, and nothing was done now. */
  readonly noteReplay: () => void;
};

/** Decision 31. After that the same key is a new request. */
export const acceptedRequestHours = 24;
