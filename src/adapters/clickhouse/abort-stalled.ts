import type { ClickHouseClient } from '@clickhouse/client';
import { blame } from '../failed-dependency.ts';

/** Interval and timeout of the pings that are sent while statements run. */
const defaultTimes = { pingEveryMs: 5_000, pingTimeoutMs: 10_000 };
/** Number of consecutive missed pings after which the server is considered stalled rather than busy. */
const maxMissedPings = 2;

const statementMethods: ReadonlySet<string> = new Set(['query', 'command', 'exec', 'insert']);

type Given = { readonly abort_signal?: AbortSignal };

/**
 * Aborts all statements on a server that stops answering pings, as if the connection had been lost. A statement may run
 * for hours, so a timeout cannot distinguish a long statement from a stalled or disconnected server. Pings use a
 * separate connection. A process that lacks CPU time must not conclude that the server is stalled, because its retries
 * would add load to an overloaded machine.
 */
export function abortStalled(
  server: ClickHouseClient,
  pinger: ClickHouseClient,
  { pingEveryMs, pingTimeoutMs } = defaultTimes,
): ClickHouseClient {
  const state = { running: 0, missed: 0, gone: new AbortController() };
  let timer: NodeJS.Timeout | undefined;

  const ping = async (): Promise<void> => {
    const timeout = eventLoopTimeout(pingTimeoutMs);
    const { success } = await pinger.ping({ select: false, abort_signal: timeout.signal });
    timeout.end();
    state.missed = success ? 0 : state.missed + 1;
    if (state.missed >= maxMissedPings) {
      const { gone } = state;
      Object.assign(state, { missed: 0, gone: new AbortController() });
      gone.abort();
    }
  };
  const begin = (): void => {
    state.running += 1;
    timer ??= setInterval(() => void ping(), pingEveryMs).unref();
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
      abort_signal.throwIfAborted(); // the client ignores a signal that is already aborted
      return await call({ ...given, abort_signal });
    } catch (error) {
      if (!gone.aborted) throw blame('clickhouse', error);
      const stalled = Object.assign(new Error('ClickHouse does not respond', { cause: error }), { code: 'ETIMEDOUT' });
      throw blame('clickhouse', stalled);
    } finally {
      end();
    }
  };

  return new Proxy(server, {
    get: (inner, property) => {
      const value: unknown = Reflect.get(inner, property);
      if (typeof value !== 'function') return value;
      if (property === 'close') return () => Promise.all([server.close(), pinger.close()]).then(() => undefined);
      if (typeof property !== 'string' || !statementMethods.has(property)) return value.bind(inner) as unknown;
      return (given: Given) => run(async (more): Promise<unknown> => Reflect.apply(value, inner, [more]), given);
    },
  });
}

const ticks = 20;

/**
 * A timeout that counts ticks of the event loop. If the process is suspended or lacks CPU time, a late tick counts only
 * once. Responses that have arrived in the meantime are therefore read before the timeout expires.
 */
function eventLoopTimeout(ms: number): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  let left = ticks;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    controller.abort();
  }, ms / ticks).unref();
  return { signal: controller.signal, end: () => clearInterval(timer) };
}
