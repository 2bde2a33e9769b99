import type { FileFault } from '@inlet/row-rule/file-faults';
import type { RowLayout } from '@inlet/row-rule/row-layout';
import { sniffLayout, type Shapes } from '@inlet/row-rule/sniff-layout';
import { Failure } from './failure.ts';

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
