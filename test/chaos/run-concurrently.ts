/** Runs a function for each item, at most `most` at a time. */
export async function runConcurrently<T>(
  items: readonly T[],
  most: number,
  run: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const runSome = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await run(item);
  };
  await Promise.all(Array.from({ length: most }, runSome));
}
