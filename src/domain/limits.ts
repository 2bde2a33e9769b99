/** Decision 32. Each is a setting; these are the defaults. */
export type Limits = {
  readonly maxLineBytes: number;
  readonly maxFilesPerPrefix: number;
  readonly maxGzipFileBytes: number;
  readonly maxPlainFileBytes: number;
  readonly maxOpenJobs: number;
};

export const defaultLimits: Limits = {
  maxLineBytes: 102_400,
  maxFilesPerPrefix: 10_000,
  maxGzipFileBytes: 5_000_000_000,
  maxPlainFileBytes: 50_000_000_000,
  maxOpenJobs: 200,
};
