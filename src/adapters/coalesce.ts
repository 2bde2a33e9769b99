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
export function coalesceEach<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
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

const turns = 20;

/**
 * A time limit that counts turns of the event loop. One that takes long, because the process has not got the processor or
 * was stopped, counts as one: what has arrived meanwhile is read before the time is up.
 */
export function eventLoopTimeout(ms: number): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  let left = turns;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    controller.abort();
  }, ms / turns).unref();
  return { signal: controller.signal, end: () => clearInterval(timer) };
}
