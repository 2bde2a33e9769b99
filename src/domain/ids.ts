declare const kind: unique symbol;

/**
 * A branded number. The compiler rejects an ID of one kind where another kind is expected. The brand is optional, so a
 * plain number from a request, a queue token, or a test is still accepted.
 */
type Id<Kind extends string> = number & { readonly [kind]?: Kind };

export type PartnerId = Id<'partner'>;
export type JobId = Id<'job'>;
/** Equals the ID of the batch's first file. */
export type BatchId = Id<'batch'>;
/** Identifies one attempt to load a batch. */
export type LoadId = Id<'load'>;
