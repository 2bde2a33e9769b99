import { importMode, keyType, logType, pathType } from '../../domain/import-log.ts';
import { jobKind, jobStatus } from '../../domain/job.ts';

/** Checks that a value from the database is one that the domain knows. */
function codeReader<T extends number | string>(
  name: string,
  codes: Readonly<Record<string, T>>,
): (value: number | string) => T {
  const known = Object.values(codes);
  return (value) => {
    const code = known.find((candidate) => candidate === value);
    if (code === undefined) throw new Error(`${value} is no ${name}`);
    return code;
  };
}

export const toJobStatus = codeReader('job status', jobStatus);
export const toJobKind = codeReader('job kind', jobKind);
export const toPathType = codeReader('path type', pathType);
export const toKeyType = codeReader('key type', keyType);
export const toLogType = codeReader('log type', logType);
export const toImportMode = codeReader('import mode', importMode);
