const turns = 20;

/**
 * A time limit that counts turns of the event loop. One that takes long, because the process has not got the processor or
 * was stopped, counts as one: what has arrived meanwhile is read before the time is up.
 */
export function timeOfThisProcess(ms: number): { readonly signal: AbortSignal; readonly end: () => void } {
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
