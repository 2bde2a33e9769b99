/** Creates a value when it is first needed. */
export function once<T extends object>(create: () => T): () => T {
  let created: T | undefined;
  return () => (created ??= create());
}
