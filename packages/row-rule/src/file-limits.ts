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
