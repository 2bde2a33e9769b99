import type { Span } from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkIds } from '../../ports/observability.ts';

/** The request or unit of work in which the current code runs. */
export type Scope = {
  readonly ids: WorkIds & { readonly requestId?: string };
  /** Null if tracing is disabled. */
  readonly span: Span | null;
};

const scopes = new AsyncLocalStorage<Scope>();

export function currentScope(): Scope | undefined {
  return scopes.getStore();
}

export function runInScope<T>(scope: Scope, run: () => T): T {
  return scopes.run(scope, run);
}

/** Fields for every log line: the IDs of the current request, job, or batch. */
export function fieldsOfScope(): object {
  const scope = scopes.getStore();
  if (!scope) return {};
  return scope.span ? { ...scope.ids, traceId: scope.span.spanContext().traceId } : { ...scope.ids };
}
