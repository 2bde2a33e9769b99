import { Failure } from './failure.ts';

/** S3 keys are at most 1,024 bytes; the partner's prefix is part of the key. */
const maxKeyBytes = 1024;
const utf8 = new TextEncoder();

/**
 * Makes the object key (or the beginning of keys) from what a partner submitted for the shared bucket.
 * Decision 25: relative to the prefix, and nothing that could leave it.
 */
export function keyInPrefix(prefix: string, filePath: string): string {
  const problem = problemWith(filePath);
  if (problem) throw invalid(problem);
  const key = prefix + filePath;
  if (utf8.encode(key).length > maxKeyBytes) throw invalid(`is longer than ${maxKeyBytes} bytes with its prefix`);
  return key;
}

/** A path that ends with a slash can only be a prefix; any other may be a file or a prefix. */
export function isCertainlyPrefix(filePath: string): boolean {
  return filePath.endsWith('/');
}

function problemWith(filePath: string): string | null {
  if (filePath === '') return 'is empty';
  if (filePath.startsWith('/')) return 'begins with "/"; leave it out';
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(filePath)) return 'is an address; give a path relative to your prefix';
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(filePath)) return 'holds a control character';
  if (filePath.split('/').some((segment) => segment === '..' || segment === '.')) return 'holds a "." or ".." segment';
  if (!filePath.isWellFormed()) return 'is not well-formed text';
  return null;
}

function invalid(problem: string): Failure {
  const detail = `file_path ${problem}.`;
  return new Failure('invalid_file_path', detail, { fields: [{ pointer: '/file_path', detail }] });
}
