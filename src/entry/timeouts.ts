import type { Log } from '../ports/observability.ts';

/** The answer, or an error when it has not come in time. What was asked goes on by itself. */
export async function withTimeout<T>(answer: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** One look at a time, however many ask; null when it fails or takes too long. */
export function coalesceReads<T>(read: () => Promise<T>, withinMs: number, log: Log): () => Promise<T | null> {
  let looking: Promise<T | null> | null = null;
  const lookOnce = async (): Promise<T | null> => {
    try {
      return await withTimeout(read(), withinMs);
    } catch (error) {
      log.warn({ err: error }, 'postgres could not be asked for the metrics');
      return null;
    } finally {
      looking = null;
    }
  };
  return () => (looking ??= lookOnce());
}
