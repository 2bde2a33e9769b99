import type { Span } from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkIds } from '../../ports/observability.ts';

/** What the code that runs now belongs to. */
export type Scope = {
  readonly ids: WorkIds & { readonly requestId?: string };
  /** Null where no traces are kept. */
  readonly span: Span | null;
};

const scopes = new AsyncLocalStorage<Scope>();

export function currentScope(): Scope | undefined {
  return scopes.getStore();
}

export function runInScope<T>(scope: Scope, run: () => T): T {
  return scopes.run(scope, run);
}

/** For every line of the log: the ids of the request, job or batch in whose course it is written. */
export function fieldsOfScope(): object {
  const scope = scopes.getStore();
  if (!scope) return {};
  return scope.span ? { ...scope.ids, traceId: scope.span.spanContext().traceId } : { ...scope.ids };
}
