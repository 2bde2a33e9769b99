import { AsyncLocalStorage } from 'node:async_hooks';
import type { AsCaller, CallerScope } from '../../ports/caller-scope.ts';

const callers = new AsyncLocalStorage<CallerScope>();

export const asCaller: AsCaller = (scope, run) => callers.run(scope, run);

/** Undefined before a caller is known, and for what is done for nobody in particular. */
export function currentCaller(): CallerScope | undefined {
  return callers.getStore();
}
