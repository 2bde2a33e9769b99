import type { Log } from '../../ports/observability.ts';
import { withinTime } from '../within-time.ts';

/** One look at a time, however many ask; null when it fails or takes too long. */
export function sharedLook<T>(read: () => Promise<T>, withinMs: number, log: Log): () => Promise<T | null> {
  let looking: Promise<T | null> | null = null;
  const lookOnce = async (): Promise<T | null> => {
    try {
      return await withinTime(read(), withinMs);
    } catch (error) {
      log.warn({ err: error }, 'postgres could not be asked for the metrics');
      return null;
    } finally {
      looking = null;
    }
  };
  return () => (looking ??= lookOnce());
}
