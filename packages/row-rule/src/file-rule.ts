import type { FileFault } from './file-faults.ts';

/** Limits for one file (decision 32). The operator can configure them. */
export type FileLimits = {
  readonly maxLineBytes: number;
  readonly maxGzipFileBytes: number;
  readonly maxPlainFileBytes: number;
};

export const defaultFileLimits: FileLimits = {
  maxLineBytes: 102_400,
  maxGzipFileBytes: 5_000_000_000,
  maxPlainFileBytes: 50_000_000_000,
};

export function hasGzipName(name: string): boolean {
  return name.toLowerCase().endsWith('.gz');
}

export function startsLikeGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export const noBytes: FileFault = { code: 'empty_file', detail: 'The file is empty (0 bytes).' };

/** Decision 15: the declared compression must match the first bytes. Null means that no compression was declared. */
export function faultOfCompression(expected: boolean | null, found: boolean): FileFault | null {
  if (expected === null || expected === found) return null;
  const detail = expected
    ? 'The file is not gzip, but "compressed" was true, or was not set and its name ends in .gz.'
    : 'The file is gzip, but "compressed" was false, or was not set and its name does not end in .gz.';
  return { code: 'compression_mismatch', detail };
}

export function faultOfSize(size: number, isGzip: boolean, limits: FileLimits): FileFault | null {
  const limit = isGzip ? limits.maxGzipFileBytes : limits.maxPlainFileBytes;
  if (size <= limit) return null;
  return { code: 'file_too_large', detail: `The file has ${size} bytes; the limit is ${limit}.` };
}

export function unpackedTooLarge({ maxPlainFileBytes }: FileLimits): FileFault {
  return { code: 'unpacked_too_large', detail: `The file decompresses to more than ${maxPlainFileBytes} bytes.` };
}

export const brokenGzip: FileFault = { code: 'corrupt_gzip', detail: 'The gzip data is truncated or corrupt.' };

export const trailingBytes: FileFault = {
  code: 'corrupt_gzip',
  detail: 'The gzip data is followed by bytes that are not gzip.',
};

export const lineOutOfBounds: FileFault = {
  code: 'line_out_of_bounds',
  detail: 'A line in the file is larger than the maximum load size.',
};

type Rows = { readonly accepted: number; readonly rejected: number };

/**
 * Decision 16: marketplace imports skip any number of rejected rows; by default, an audience file must not have any.
 */
export const badRowShares = { marketplace: 1, audience: 0 } as const;

/** Decisions 16 and 17: a file fails if it has no valid row, or if more than the given share of its rows is rejected. */
export function faultOfRows({ accepted, rejected }: Rows, badRowShare: number): FileFault | null {
  const total = accepted + rejected;
  if (total === 0) return { code: 'empty_file', detail: 'The file has no data rows.' };
  if (accepted === 0) return { code: 'no_good_row', detail: `All ${rejected} rows were rejected.` };
  if (rejected <= badRowShare * total) return null;
  const limit = badRowShare === 0 ? '0' : `${badRowShare * 100}%`;
  const were = rejected === 1 ? 'was' : 'were';
  const detail = `${rejected} of ${total} rows ${were} rejected; the limit for your account is ${limit}.`;
  return { code: 'bad_rows', detail };
}
