/** A migration of this release has not run. */
export class SchemaError extends Error {}
