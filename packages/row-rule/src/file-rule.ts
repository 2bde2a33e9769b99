import type { FileFault } from './file-faults.ts';

/** Decision 32: the most that a file may have. The operator can set other ones; these are the defaults. */
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

/** Whether a name says that its file is gzipped. */
export function hasGzipName(name: string): boolean {
  return name.toLowerCase().endsWith('.gz');
}

export function startsLikeGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export const noBytes: FileFault = { code: 'empty_file', detail: 'The file has no bytes.' };

/** Decision 15: what was announced and the first bytes must agree; null announces nothing. */
export function faultOfCompression(expected: boolean | null, found: boolean): FileFault | null {
  if (expected === null || expected === found) return null;
  const [announced, actual] = expected ? ['gzip', 'not gzip'] : ['plain text', 'gzip'];
  const detail = `The file was announced as ${announced}, but its first bytes are ${actual}.`;
  return { code: 'compression_mismatch', detail };
}

export function faultOfSize(size: number, isGzip: boolean, limits: FileLimits): FileFault | null {
  const limit = isGzip ? limits.maxGzipFileBytes : limits.maxPlainFileBytes;
  if (size <= limit) return null;
  return { code: 'file_too_large', detail: `The file has ${size} bytes; ${limit} are allowed.` };
}

export function unpackedTooLarge({ maxPlainFileBytes }: FileLimits): FileFault {
  return { code: 'unpacked_too_large', detail: `The file unpacks to more than ${maxPlainFileBytes} bytes.` };
}

export const brokenGzip: FileFault = { code: 'corrupt_gzip', detail: 'The gzip data ends early or is damaged.' };

export const trailingBytes: FileFault = {
  code: 'corrupt_gzip',
  detail: 'The gzip data is followed by bytes that are none.',
};

export const lineOutOfBounds: FileFault = {
  code: 'line_out_of_bounds',
  detail: 'A line of the file is larger than a load may be.',
};

type Rows = { readonly accepted: number; readonly rejected: number };

/** Decision 16: marketplace imports skip bad rows, however many; of an audience file none may be bad by default. */
export const badRowShares = { marketplace: 1, audience: 0 } as const;

/** Decisions 16 and 17: a file without a good row fails, and so does one in which more than a share of the rows is bad. */
export function faultOfRows({ accepted, rejected }: Rows, badRowShare: number): FileFault | null {
  const total = accepted + rejected;
  if (total === 0) return { code: 'empty_file', detail: 'The file has no data row.' };
  if (accepted === 0) return { code: 'no_good_row', detail: `All ${rejected} rows were rejected.` };
  if (rejected <= badRowShare * total) return null;
  const allowed = badRowShare === 0 ? 'none' : `${badRowShare * 100}%`;
  return { code: 'bad_rows', detail: `${rejected} of ${total} rows were rejected; ${allowed} may be.` };
}
