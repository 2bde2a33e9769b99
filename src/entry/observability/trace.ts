import type { Attributes, Span } from '@opentelemetry/api';
import type { Trace, WorkIds } from '../../ports/observability.ts';
import { wrapMethods } from '../wrap-methods.ts';
import { currentScope, runInScope } from './scope.ts';
import type { Spans } from './spans.ts';

/** Injected, so that OpenTelemetry is not loaded unless tracing is enabled. */
export type Tracing = Spans & { readonly fail: (span: Span, error: unknown) => void };

/** Adds the IDs of a unit of work to log lines, and starts a span if tracing is enabled. */
export function traceWork(tracing: Tracing | null): Trace {
  return {
    span: (name, ids, run) => {
      const outer = currentScope();
      const span = tracing ? tracing.start(name, attributesOf(ids), outer?.span ?? null) : null;
      return ending(tracing, span, runInScope({ ids: { ...outer?.ids, ...ids }, span }, run));
    },
  };
}

/** Starts a span for each call within a request or a unit of work. Calls from periodic tasks get no span. */
export function tracePort<Port extends object>(tracing: Tracing, name: string, port: Port): Port {
  return wrapMethods(port, (method, call) => {
    const scope = currentScope();
    if (!scope?.span) return call();
    const span = tracing.start(`${name}.${method}`, {}, scope.span);
    const result = runInScope({ ...scope, span }, call);
    if (result instanceof Promise) return ending(tracing, span, result);
    span.end();
    return result;
  });
}

async function ending<T>(tracing: Tracing | null, span: Span | null, work: Promise<T>): Promise<T> {
  if (!tracing || !span) return work;
  try {
    return await work;
  } catch (error) {
    tracing.fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

export function attributesOf(ids: WorkIds & { readonly requestId?: string }): Attributes {
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [`inlet.${name}`, id]));
}
