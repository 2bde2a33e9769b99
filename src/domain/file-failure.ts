import type { FileFault } from '@inlet/row-rule/file-faults';
import { hasGzipName } from '@inlet/row-rule/file-rule';
import type { RowLayout } from '@inlet/row-rule/row-layout';
import { type Shapes, sniffLayout } from '@inlet/row-rule/sniff-layout';
import { Failure } from './failure.ts';
import { isCertainlyPrefix } from './source-path.ts';

/** What the rules find wrong with a file, as a failure of the catalogue. */
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

/** Decision 26, as far as the request alone can tell: a prefix needs the field. */
export function requireCompressedForPrefix(filePath: string, compressed: boolean | null): void {
  if (compressed === null && isCertainlyPrefix(filePath)) throw missingCompressed();
}

/** Whether a file should be gzipped: the explicit value wins; else the extension of a single file tells. */
export function expectGzip(compressed: boolean | null, file: { key: string; isSingle: boolean }): boolean {
  if (compressed !== null) return compressed;
  if (!file.isSingle) throw missingCompressed();
  return hasGzipName(file.key);
}

/** Decision 26 for audiences: a `.gz` file must be gzipped; of any other the first bytes tell (null). */
export function expectGzipByName(key: string): true | null {
  return hasGzipName(key) ? true : null;
}

function missingCompressed(): Failure {
  const detail = 'compressed must be given when file_path is a prefix.';
  return new Failure('compressed_required', detail, { fields: [{ pointer: '/compressed', detail }] });
}
