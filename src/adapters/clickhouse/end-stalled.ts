import { timeOfThisProcess } from '../time-of-this-process.ts';
import type { Shard } from './connect.ts';

/** While something runs, the server is asked so often whether it is there. */
const usualTimes = { askEveryMs: 5_000, answerWithinMs: 10_000 };
/** So many times in a row without an answer: it is not just busy. */
const mostMissed = 2;

const waiting: ReadonlySet<string> = new Set(['query', 'command', 'exec', 'insert']);

type Given = { readonly abort_signal?: AbortSignal };

/**
 * A statement may run for hours, so no time limit tells a long one from a server that stands still or is cut off. But a
 * server that works answers a ping, on a connection of its own. One that does not has everything that waits for it ended, as if the connection had
 * broken. A process that hardly gets the processor must not take that for a silent server: what it would begin again is
 * more work for a machine that has too much of it.
 */
export function endStalled(shard: Shard, pinger: Shard, { askEveryMs, answerWithinMs } = usualTimes): Shard {
  const state = { running: 0, missed: 0, gone: new AbortController() };
  let timer: NodeJS.Timeout | undefined;

  const ask = async (): Promise<void> => {
    const patience = timeOfThisProcess(answerWithinMs);
    const { success } = await pinger.ping({ select: false, abort_signal: patience.signal });
    patience.end();
    state.missed = success ? 0 : state.missed + 1;
    if (state.missed >= mostMissed) {
      const { gone } = state;
      Object.assign(state, { missed: 0, gone: new AbortController() });
      gone.abort();
    }
  };
  const begin = (): void => {
    state.running += 1;
    timer ??= setInterval(() => void ask(), askEveryMs).unref();
  };
  const end = (): void => {
    state.running -= 1;
    if (state.running > 0) return;
    clearInterval(timer);
    timer = undefined;
    state.missed = 0;
  };

  const run = async (call: (given: Given) => Promise<unknown>, given: Given): Promise<unknown> => {
    const gone = state.gone.signal;
    begin();
    try {
      const signals = given.abort_signal ? [given.abort_signal, gone] : [gone];
      const abort_signal = AbortSignal.any(signals);
      abort_signal.throwIfAborted(); // the client looks only for what comes later
      return await call({ ...given, abort_signal });
    } catch (error) {
      if (!gone.aborted) throw error;
      throw Object.assign(new Error('the engine does not answer', { cause: error }), { code: 'ETIMEDOUT' });
    } finally {
      end();
    }
  };

  return new Proxy(shard, {
    get: (inner, property) => {
      const value: unknown = Reflect.get(inner, property);
      if (typeof value !== 'function') return value;
      if (property === 'close') return () => Promise.all([shard.close(), pinger.close()]).then(() => undefined);
      if (typeof property !== 'string' || !waiting.has(property)) return value.bind(inner) as unknown;
      return (given: Given) => run(async (more): Promise<unknown> => Reflect.apply(value, inner, [more]), given);
    },
  });
}
