import type { FileFault } from '@inlet/row-rule/file-faults';
import { hasGzipName } from '@inlet/row-rule/file-rule';
import type { RowLayout } from '@inlet/row-rule/row-layout';
import { type Shapes, sniffLayout } from '@inlet/row-rule/sniff-layout';
import { Failure } from './failure.ts';
import { isCertainlyPrefix } from './source-path.ts';

/** Converts a file fault, as the row rule reports it, to a failure. */
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
 * Decision 26 for audiences: a `.gz` file must be gzip-compressed. For any other file, the first bytes decide (null).
 */
export function expectGzipByName(key: string): true | null {
  return hasGzipName(key) ? true : null;
}

function missingCompressed(): Failure {
  const detail = 'compressed is required when file_path is a prefix.';
  return new Failure('compressed_required', detail, { fields: [{ pointer: '/compressed', detail }] });
}
