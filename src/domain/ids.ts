declare const kind: unique symbol;

/**
 * A number with a kind. An ID of one kind is not accepted where another kind is expected. The kind is optional, so a
 * plain number from a request, a queue token, or a test is still accepted.
 */
type Id<Kind extends string> = number & { readonly [kind]?: Kind };

export type PartnerId = Id<'partner'>;
export type JobId = Id<'job'>;
/** The ID of the batch's first file. */
export type BatchId = Id<'batch'>;
/** One attempt to load a batch. */
export type LoadId = Id<'load'>;
