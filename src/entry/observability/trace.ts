import type { Attributes, Span } from '@opentelemetry/api';
import type { Trace, WorkIds } from '../../ports/observability.ts';
import { wrapMethods } from '../wrap-methods.ts';
import { currentScope, runInScope } from './scope.ts';
import type { Spans } from './spans.ts';

/** Spans, and how one ends badly; handed in so that nothing of OpenTelemetry is loaded where no traces are kept. */
export type Tracing = Spans & { readonly fail: (span: Span, error: unknown) => void };

/** Gives work its ids in the log, and a span where traces are kept. */
export function traceWork(tracing: Tracing | null): Trace {
  return {
    span: (name, ids, run) => {
      const outer = currentScope();
      const span = tracing ? tracing.start(name, attributesOf(ids), outer?.span ?? null) : null;
      return ending(tracing, span, runInScope({ ids: { ...outer?.ids, ...ids }, span }, run));
    },
  };
}

/** The same port, with a span for each call that is part of a request or of work; what sweeps ask for has none. */
export function tracePort<Port extends object>(tracing: Tracing, name: string, port: Port): Port {
  return wrapMethods(port, (method, call) => {
    const scope = currentScope();
    if (!scope?.span) return call();
    const span = tracing.start(`${name}.${method}`, {}, scope.span);
    const answer = runInScope({ ...scope, span }, call);
    if (answer instanceof Promise) return ending(tracing, span, answer);
    span.end();
    return answer;
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
