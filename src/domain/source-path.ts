import { Failure } from './failure.ts';

/** S3 keys are at most 1,024 bytes; the partner's prefix is part of the key. */
const maxKeyBytes = 1024;
const utf8 = new TextEncoder();

/**
 * Makes the object key (or the beginning of keys) from what a partner submitted for the shared bucket.
 * Decision 25: relative to the prefix, and nothing that could leave it.
 */
export function keyInPrefix(prefix: string, filePath: string): string {
  const problem = pathProblem(filePath);
  if (problem !== null) throw invalidFilePath(problem);
  const key = prefix + filePath;
  requireKeyLength(key);
  return key;
}

/** Decision 25 for audiences: a path that already begins with the prefix is taken as it is. */
export function audienceKey(prefix: string, filePath: string): string {
  return keyInPrefix(prefix, filePath.startsWith(prefix) ? filePath.slice(prefix.length) : filePath);
}

/** A path that ends with a slash can only be a prefix; any other may be a file or a prefix. */
export function isCertainlyPrefix(filePath: string): boolean {
  return filePath.endsWith('/');
}

export function requireKeyLength(key: string): void {
  if (utf8.encode(key).length > maxKeyBytes)
    throw invalidFilePath(`is longer than ${maxKeyBytes} bytes with its prefix`);
}

/** What is wrong with a path inside of a bucket; null when nothing is. */
export function pathProblem(path: string): string | null {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'begins with "/"; leave it out';
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return 'is an address; give a path relative to your prefix';
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'holds a control character';
  if (path.split('/').some((segment) => segment === '..' || segment === '.')) return 'holds a "." or ".." segment';
  if (!path.isWellFormed()) return 'is not well-formed text';
  return null;
}

export function invalidFilePath(problem: string): Failure {
  const detail = `file_path ${problem}.`;
  return new Failure('invalid_file_path', detail, { fields: [{ pointer: '/file_path', detail }] });
}
