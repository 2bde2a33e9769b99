/**
 * Runs one read at a time for any number of callers. Calls during a read share the next read, because the current read
 * may have started before the change that the callers need to see.
 */
export function coalesce<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  const begin = (): Promise<T> => {
    next = null;
    const reading = read();
    running = reading.catch(() => undefined);
    return reading;
  };
  return () => (next ??= running.then(begin));
}

/** Coalesces the reads of each key separately. */
export function coalesceEach<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const reads = new Map<string, { readonly next: () => Promise<T>; callers: number }>();
  return async (key) => {
    const entry = reads.get(key) ?? { next: coalesce(() => read(key)), callers: 0 };
    reads.set(key, entry);
    entry.callers += 1;
    try {
      return await entry.next();
    } finally {
      entry.callers -= 1;
      if (entry.callers === 0) reads.delete(key);
    }
  };
}
