import type { FileFault } from '@inlet/row-rule/file-faults';
import {
  type FileLimits,
  brokenGzip,
  faultOfRows,
  faultOfSize,
  lineOutOfBounds,
  noBytes,
  rowsOf,
  sniffLayout,
  sniffedBytes,
  startsLikeGzip,
  unpackedTooLarge,
} from '@inlet/row-rule/file-rule';
import { type CountedRows, RowCounts } from '@inlet/row-rule/row-counts';
import {
  audienceShapes,
  canBeAttributeId,
  canBeForeignKey,
  marketplaceShapes,
  rowRule,
} from '@inlet/row-rule/row-rule';
import type { KeyLookup } from '@inlet/row-rule/validate-row';
import { RowValidator } from '@inlet/row-rule/validate-rows';
import { CorruptGzip, gunzip } from './gunzip.ts';

/** The rules for a check. They are sent to the worker, so they contain only data. */
export type CheckRules = {
  readonly isAudience: boolean;
  readonly limits: FileLimits;
  readonly badRowShare: number;
  readonly keyType: 0 | 1;
  readonly unhyphenatedIds: boolean;
  /** The partner's keys. Null if only the format of the keys is checked. */
  readonly keys: { readonly used: readonly string[]; readonly retired: readonly string[] } | null;
};

export type CheckedFile = {
  readonly isGzip: boolean;
  /** Why the file would fail, or null. */
  readonly fault: FileFault | null;
  readonly rows: CountedRows;
};

const shownRows = 10;
/** ClickHouse cannot process a longer line. */
const maxLineBytes = 1024 ** 3;
const chunkBytes = 1024 * 1024;
const packedHeadBytes = 65_536;

/** Checks a local file as the service would, with the same rule. `onBytes` receives the number of bytes read so far. */
export async function checkFile(file: Blob, rules: CheckRules, onBytes: (bytes: number) => void): Promise<CheckedFile> {
  const keys = lookupOf(rules);
  const none = new RowCounts(0, keys).counted(0);
  if (file.size === 0) return { isGzip: false, fault: noBytes, rows: none };
  const head = await bytesOf(file.slice(0, sniffedBytes));
  const isGzip = startsLikeGzip(head);
  const tooLarge = faultOfSize(file.size, isGzip, rules.limits);
  if (tooLarge) return { isGzip, fault: tooLarge, rows: none };
  const shapes = rules.isAudience ? audienceShapes : marketplaceShapes;
  const { layout, fault } = sniffLayout(isGzip ? await unpackHead(head) : head, shapes);
  if (fault) return { isGzip, fault, rows: none };
  const counts = new RowCounts(shownRows, keys);
  const { maxLineBytes: limit } = rules.limits;
  const { unhyphenatedIds } = rules;
  const context = {
    layout: { ...layout, unhyphenatedIds },
    rule: rowRule(layout, limit),
    attributeIdByKey: keys,
  };
  const validator = new RowValidator(context, limit, (row, reason, raw) => counts.add(row, reason, raw));
  const broken = await validateAll(file, { isGzip, validator, limits: rules.limits, onBytes });
  if (broken) return { isGzip, fault: broken, rows: none };
  return {
    isGzip,
    rows: counts.counted(validator.accepted),
    fault: faultOfRows(rowsOf(counts.loadCounts(validator.accepted), rules.isAudience), rules.badRowShare),
  };
}

type Reading = {
  readonly isGzip: boolean;
  readonly validator: RowValidator;
  readonly limits: FileLimits;
  readonly onBytes: (bytes: number) => void;
};

async function validateAll(file: Blob, { isGzip, validator, limits, onBytes }: Reading): Promise<FileFault | null> {
  const packed = chunksOf(file, onBytes);
  let unpacked = 0;
  try {
    for await (const chunk of isGzip ? gunzip(packed) : packed) {
      validator.push(chunk);
      unpacked += chunk.length;
      if (unpacked > limits.maxPlainFileBytes) return unpackedTooLarge(limits);
      if (validator.openLineBytes > maxLineBytes) return lineOutOfBounds;
    }
  } catch (error) {
    if (error instanceof CorruptGzip) return brokenGzip;
    throw error;
  }
  validator.end();
  return null;
}

async function* chunksOf(
  file: Blob,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for (let start = 0; start < file.size; start += chunkBytes) {
    yield await bytesOf(file.slice(start, start + chunkBytes));
    onBytes(Math.min(file.size, start + chunkBytes));
  }
}

async function bytesOf(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await blob.arrayBuffer());
}

/** Decompresses as much as possible of the beginning of a file, which usually ends in the middle of a member. */
async function unpackHead(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const head = new Uint8Array(sniffedBytes);
  let length = 0;
  async function* whole(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    yield packed.subarray(0, packedHeadBytes);
  }
  try {
    for await (const chunk of gunzip(whole())) {
      const wanted = chunk.subarray(0, head.length - length);
      head.set(wanted, length);
      length += wanted.length;
      if (length === head.length) break;
    }
  } catch (error) {
    if (!(error instanceof CorruptGzip)) throw error;
  }
  return head.subarray(0, length);
}

function lookupOf({ keys, keyType }: CheckRules): KeyLookup {
  if (keys === null) return { has: keyType === 0 ? canBeAttributeId : canBeForeignKey, get: () => 0 };
  const used = new Map(keys.used.map((key, index) => [key, index + 1]));
  const retired = new Set(keys.retired);
  return { has: (key) => used.has(key), get: (key) => used.get(key), isRetired: (key) => retired.has(key) };
}
