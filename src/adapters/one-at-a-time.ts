/**
 * Reads one at a time, however many ask. Whoever asks while it reads shares the next reading, not the one under way, which
 * may have begun before what they want to see.
 */
export function oneAtATime<T>(read: () => Promise<T>): () => Promise<T> {
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

/** The same for each key by itself. */
export function oneAtATimeEach<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const asked = new Map<string, { readonly ask: () => Promise<T>; waiting: number }>();
  return async (key) => {
    const of = asked.get(key) ?? { ask: oneAtATime(() => read(key)), waiting: 0 };
    asked.set(key, of);
    of.waiting += 1;
    try {
      return await of.ask();
    } finally {
      of.waiting -= 1;
      if (of.waiting === 0) asked.delete(key);
    }
  };
}
