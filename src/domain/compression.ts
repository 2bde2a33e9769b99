import { isCalledGzip } from '@inlet/row-rule/file-rule';
import { Failure } from './failure.ts';
import { isCertainlyPrefix } from './source-path.ts';

/** Decision 26, as far as the request alone can tell: a prefix needs the field. */
export function requireCompressedForPrefix(filePath: string, compressed: boolean | null): void {
  if (compressed === null && isCertainlyPrefix(filePath)) throw missingCompressed();
}

/** Whether a file should be gzipped: the explicit value wins; else the extension of a single file tells. */
export function expectGzip(compressed: boolean | null, file: { key: string; isSingle: boolean }): boolean {
  if (compressed !== null) return compressed;
  if (!file.isSingle) throw missingCompressed();
  return isCalledGzip(file.key);
}

/** Decision 26 for audiences: a `.gz` file must be gzipped; of any other the first bytes tell (null). */
export function expectGzipByName(key: string): true | null {
  return isCalledGzip(key) ? true : null;
}

function missingCompressed(): Failure {
  const detail = 'compressed must be given when file_path is a prefix.';
  return new Failure('compressed_required', detail, { fields: [{ pointer: '/compressed', detail }] });
}
