import { Failure } from '../../domain/failure.ts';
import type { Limits } from '../../domain/limits.ts';
import { isCertainlyPrefix } from '../../domain/source-path.ts';
import type { ObjectStore, StoredObject } from '../../ports/object-store.ts';

type Listed = {
  readonly objects: readonly StoredObject[];
  /** The path names one object, not a prefix. */ readonly isSingle: boolean;
};

/**
 * Decision 19: the object with exactly this key, otherwise all objects whose key starts with it. The list is held in
 * memory. The limit on files per prefix bounds its size, and one transaction must write it as a whole.
 */
export async function listSourceFiles(
  objects: ObjectStore,
  limits: Limits,
  source: { readonly key: string; readonly filePath: string },
): Promise<Listed> {
  const { key, filePath } = source;
  const exact = isCertainlyPrefix(filePath) ? null : await objects.find(key);
  if (exact) return { objects: [exact], isSingle: true };
  const found = await objects.list(key, limits.maxFilesPerPrefix + 1);
  if (found.length === 0) throw new Failure('no_files', `No object has the path "${filePath}" or begins with it.`);
  if (found.length > limits.maxFilesPerPrefix) {
    throw new Failure('too_many_files', `More than ${limits.maxFilesPerPrefix} files begin with "${filePath}".`);
  }
  return { objects: found, isSingle: false };
}
