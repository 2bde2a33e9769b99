import { defaultFileLimits, type FileLimits } from '@inlet/row-rule/file-limits';

/** Decision 32. Each is a setting; these are the defaults. */
export type Limits = FileLimits & {
  readonly maxFilesPerPrefix: number;
  readonly maxOpenJobs: number;
};

export const defaultLimits: Limits = {
  ...defaultFileLimits,
  maxFilesPerPrefix: 10_000,
  maxOpenJobs: 200,
};
