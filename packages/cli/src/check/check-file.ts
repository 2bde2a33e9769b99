import type { FileFault } from '@inlet/row-rule/file-faults';
import {
  type FileLimits,
  type Shapes,
  brokenGzip,
  faultOfCompression,
  faultOfRows,
  rowsOf,
  faultOfSize,
  lineOutOfBounds,
  noBytes,
  sniffLayout,
  sniffedBytes,
  startsLikeGzip,
  trailingBytes,
  unpackedTooLarge,
} from '@inlet/row-rule/file-rule';
import type { KeyLookup } from '@inlet/row-rule/validate-row';
import { RowValidator } from '@inlet/row-rule/validate-rows';
import { type RowLayout, rowRule } from '@inlet/row-rule/row-rule';
import { unpackHead } from '@inlet/row-rule/unpack-head';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { reasonOf } from '../failures/path-errors.ts';
import { type CountedRows, RowCounts } from '@inlet/row-rule/row-counts';

export type CheckRules = {
  readonly isAudience: boolean;
  readonly shapes: Shapes;
  readonly limits: FileLimits;
  /** Maximum share of rejected rows in a file. */
  readonly badRowShare: number;
  readonly keys: KeyLookup;
  readonly unhyphenatedIds: boolean;
  /** Returns whether a file is declared as gzip, or null if its compression is not declared. */
  readonly expectGzip: (name: string) => boolean | null;
  /** Maximum number of rejected rows to show. */
  readonly shownRows: number;
};

export type CheckedFile = {
  readonly path: string;
  readonly bytes: number;
  readonly layout: RowLayout | null;
  /** The reason why the file would fail or could not be read. Null if the file is valid. */
  readonly fault: FileFault | Unreadable | null;
  readonly rows: CountedRows;
};

type Unreadable = { readonly code: 'unreadable_file'; readonly detail: string };

/** ClickHouse has one gigabyte of memory for a load and cannot process a longer line. */
const maxLineBytes = 1024 ** 3;

/** Validates a local file as the service would. Returns an unreadable file as a fault instead of throwing. */
export async function checkFile(
  path: string,
  rules: CheckRules,
  onBytes: (bytes: number) => void,
): Promise<CheckedFile> {
  try {
    return await validateFile(path, rules, onBytes);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    const fault = { code: 'unreadable_file', detail: `Cannot read the file: ${reason}.` } as const;
    return { path, bytes: 0, layout: null, rows: new RowCounts(0, rules.keys).counted(0), fault };
  }
}

/** Streams the file and applies the checks in the same order as the service. */
async function validateFile(path: string, rules: CheckRules, onBytes: (bytes: number) => void): Promise<CheckedFile> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const found = { path, bytes: size, layout: null, rows: new RowCounts(0, rules.keys).counted(0) };
    if (size === 0) return { ...found, fault: noBytes };
    const head = await readHead(handle);
    const isGzip = startsLikeGzip(head);
    const fault = faultOfCompression(rules.expectGzip(path), isGzip) ?? faultOfSize(size, isGzip, rules.limits);
    if (fault) return { ...found, fault };
    const { layout, fault: unknownLayout } = sniffLayout(isGzip ? await unpackHead(head) : head, rules.shapes);
    if (unknownLayout) return { ...found, fault: unknownLayout };
    const counts = new RowCounts(rules.shownRows, rules.keys);
    const validator = validatorFor(layout, rules, counts);
    const broken = await readAll(handle, {
      size,
      isGzip,
      validator,
      limits: rules.limits,
      onBytes,
    });
    // Omit the row counts of a file that cannot be read completely.
    if (broken) return { ...found, layout, fault: broken };
    const rows = counts.counted(validator.accepted);
    return {
      ...found,
      layout,
      rows,
      fault: faultOfRows(rowsOf(counts.loadCounts(validator.accepted), rules.isAudience), rules.badRowShare),
    };
  } finally {
    await handle.close();
  }
}

function validatorFor(
  found: RowLayout,
  { limits, keys, unhyphenatedIds }: CheckRules,
  counts: RowCounts,
): RowValidator {
  const layout = { ...found, unhyphenatedIds };
  const context = { layout, rule: rowRule(layout, limits.maxLineBytes), attributeIdByKey: keys };
  return new RowValidator(context, limits.maxLineBytes, (row, reason, raw) => counts.add(row, reason, raw));
}

async function readHead(handle: FileHandle): Promise<Buffer> {
  const head = Buffer.alloc(sniffedBytes);
  let length = 0;
  while (length < head.length) {
    const { bytesRead } = await handle.read(head, length, head.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return head.subarray(0, length);
}

type Reading = {
  readonly size: number;
  readonly isGzip: boolean;
  readonly validator: RowValidator;
  readonly limits: FileLimits;
  readonly onBytes: (bytes: number) => void;
};

class Stop extends Error {
  readonly fault: FileFault;

  constructor(fault: FileFault) {
    super(fault.detail);
    this.fault = fault;
  }
}

async function readAll(
  handle: FileHandle,
  { size, isGzip, validator, limits, onBytes }: Reading,
): Promise<FileFault | null> {
  const packed = handle.createReadStream({ start: 0, highWaterMark: 1024 * 1024, autoClose: false });
  packed.on('data', (chunk) => onBytes(chunk.length));
  const validateAll = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    let unpacked = 0;
    for await (const chunk of chunks) {
      validator.push(chunk);
      unpacked += chunk.length;
      if (unpacked > limits.maxPlainFileBytes) throw new Stop(unpackedTooLarge(limits));
      if (validator.openLineBytes > maxLineBytes) throw new Stop(lineOutOfBounds);
    }
    validator.end();
  };
  try {
    if (!isGzip) {
      await pipeline(packed, validateAll);
      return null;
    }
    const gunzip = createGunzip({ chunkSize: 262_144 });
    await pipeline(packed, gunzip, validateAll);
    // zlib stops at a zero byte after a gzip member and ignores the rest of the file. The service rejects such a file.
    return gunzip.bytesWritten < size ? trailingBytes : null;
  } catch (error) {
    if (error instanceof Stop) return error.fault;
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) return brokenGzip;
    throw error;
  }
}
