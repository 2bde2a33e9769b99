import { useEffect, useState } from 'preact/hooks';
import { type Country, countries } from './entry-labels.ts';

/**
 * Returns the countries as soon as the page has nothing more urgent to do. Naming and sorting them takes about 10 ms.
 */
export function useCountries(): readonly Country[] {
  const [named, setNamed] = useState<readonly Country[]>([]);
  useEffect(
    () =>
      whenIdle(() => {
        const found = countries();
        whenIdle(() => setNamed(found));
      }),
    [],
  );
  return named;
}

/** Safari has no idle callbacks. */
const afterMs = 200;

/** Returns a function that cancels the task. */
function whenIdle(task: () => void): () => void {
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(task, afterMs);
    return () => clearTimeout(timer);
  }
  const callback = requestIdleCallback(task);
  return () => cancelIdleCallback(callback);
}
