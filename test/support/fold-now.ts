import { foldIndex, rebuildIndex } from '../../src/usecases/index/fold-index.ts';
import { silentLog } from './silent-log.ts';
import type { Wired } from './wired.ts';

/** Folds all noted changes into the device index, as a worker does in the background. */
export async function foldNow(deps: Pick<Wired, 'index' | 'indexStore'>): Promise<void> {
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (fields: unknown) => void errors.push(fields) };
  // A worker folds only for a limited time and then continues in its next turn.
  do await foldIndex({ ...deps, log }, new AbortController().signal);
  while (errors.length === 0 && (await deps.indexStore.listChanges(1)).length > 0);
  if (errors.length > 0) throw new Error('a fold failed', { cause: errors[0] });
}

/** Folds rows that a test wrote to the tables directly. */
export async function foldAll(deps: Pick<Wired, 'index' | 'indexStore'>): Promise<void> {
  await rebuildIndex({ ...deps, log: silentLog });
  await foldNow(deps);
}
