import type { Log } from '../ports/observability.ts';

/** Rejects if the promise does not settle in time. The operation itself continues. */
export async function withTimeout<T>(operation: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    return await Promise.race([operation, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Concurrent callers share one read. The result is null if the read fails or times out. */
export function coalesceReads<T>(read: () => Promise<T>, timeoutMs: number, log: Log): () => Promise<T | null> {
  let running: Promise<T | null> | null = null;
  const readOnce = async (): Promise<T | null> => {
    try {
      return await withTimeout(read(), timeoutMs);
    } catch (error) {
      log.warn({ err: error }, 'cannot read the state gauges from PostgreSQL');
      return null;
    } finally {
      running = null;
    }
  };
  return () => (running ??= readOnce());
}
