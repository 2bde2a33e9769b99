import type { FileFault } from '@inlet/row-rule/file-faults';
import { type Shapes, hasGzipName, sniffLayout } from '@inlet/row-rule/file-rule';
import type { RowLayout } from '@inlet/row-rule/row-rule';
import { Failure } from './failure.ts';

/** S3 limits keys to 1,024 bytes. The partner's prefix is part of the key. */
const maxKeyBytes = 1024;
const utf8 = new TextEncoder();

/**
 * Builds the object key or key prefix for a path in the shared bucket.
 * Decision 25: paths are relative to the partner's prefix and cannot leave it.
 */
export function keyInPrefix(prefix: string, filePath: string): string {
  const problem = pathProblem(filePath);
  if (problem !== null) throw invalidFilePath(problem);
  const key = prefix + filePath;
  requireKeyLength(key);
  return key;
}

/**
 * The path of an audience file, relative to the partner's prefix. `literal` is the path from the request, and is set
 * only if that path starts with the prefix. It is tried first, because the partner may have a folder with the same name
 * as the prefix.
 */
export type AudiencePath = { readonly relative: string; readonly literal: string | null };

/** Decision 25 for audiences. */
export function audiencePath(prefix: string, filePath: string): AudiencePath {
  if (!filePath.startsWith(prefix)) {
    keyInPrefix(prefix, filePath);
    return { relative: filePath, literal: null };
  }
  const relative = filePath.slice(prefix.length);
  keyInPrefix(prefix, relative);
  return { relative, literal: isKeyTooLong(prefix + filePath) ? null : filePath };
}

/**
 * A path that is always resolved below the prefix. `audiencePath` also accepts paths that start with the prefix. If the
 * prefix of the partner is `customers/`, such a path would lead a customer out of its folder.
 */
export function relativeAudiencePath(prefix: string, filePath: string): AudiencePath {
  keyInPrefix(prefix, filePath);
  return { relative: filePath, literal: null };
}

/** A path that ends with a slash can only be a prefix. Any other path can be a file or a prefix. */
export function isCertainlyPrefix(filePath: string): boolean {
  return filePath.endsWith('/');
}

export function isKeyTooLong(key: string): boolean {
  return utf8.encode(key).length > maxKeyBytes;
}

export function requireKeyLength(key: string): void {
  if (isKeyTooLong(key)) throw invalidFilePath(`exceeds ${maxKeyBytes} bytes including the prefix`);
}

/** Describes what is wrong with a path inside a bucket. Null if the path is valid. */
export function pathProblem(path: string): string | null {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'must not start with "/"';
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return 'must be relative to your prefix, not a URL';
  // eslint-disable-next-line no-control-regex -- the rule is about control characters
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'contains a control character';
  if (path.split('/').some((segment) => segment === '..' || segment === '.')) return 'contains a "." or ".." segment';
  if (!path.isWellFormed()) return 'is not valid Unicode';
  return null;
}

export function invalidFilePath(problem: string): Failure {
  const detail = `file_path ${problem}.`;
  return new Failure('invalid_file_path', detail, { fields: [{ pointer: '/file_path', detail }] });
}

/** Converts a file fault reported by the row rule to a failure. */
export function failureOf({ code, detail }: FileFault, cause?: unknown): Failure {
  return new Failure(code, detail, { cause });
}

export function requireNoFault(fault: FileFault | null): void {
  if (fault) throw failureOf(fault);
}

export function requireLayout(head: Uint8Array, shapes: Shapes): RowLayout {
  const sniffed = sniffLayout(head, shapes);
  if (sniffed.fault) throw failureOf(sniffed.fault);
  return sniffed.layout;
}

/** Decision 26: a prefix requires `compressed`. */
export function requireCompressedForPrefix(filePath: string, compressed: boolean | null): void {
  if (compressed === null && isCertainlyPrefix(filePath)) throw missingCompressed();
}

/**
 * Whether a file must be gzip-compressed. An explicit value takes precedence. Otherwise, the extension of a single file
 * decides.
 */
export function expectGzip(compressed: boolean | null, file: { key: string; isSingle: boolean }): boolean {
  if (compressed !== null) return compressed;
  if (!file.isSingle) throw missingCompressed();
  return hasGzipName(file.key);
}

/**
 * Decision 26 for audiences: a `.gz` file must be gzip-compressed. Returns null for any
 * other file, because its first bytes determine the compression.
 */
export function expectGzipByName(key: string): true | null {
  return hasGzipName(key) ? true : null;
}

function missingCompressed(): Failure {
  const detail = 'compressed is required when file_path is a prefix.';
  return new Failure('compressed_required', detail, { fields: [{ pointer: '/compressed', detail }] });
}
