import { importMode, keyType, logType, pathType, type ImportMode } from '../../domain/import-log.ts';
import { jobKind, jobStatus, type JobKind } from '../../domain/job.ts';

/** Checks that a number from the database is one of the spec's codes. */
function codeReader<T extends number>(name: string, codes: Readonly<Record<string, T>>): (value: number) => T {
  const known = Object.values(codes);
  return (value) => {
    const code = known.find((candidate) => candidate === value);
    if (code === undefined) throw new Error(`${value} is no ${name}`);
    return code;
  };
}

export const toJobStatus = codeReader('job status', jobStatus);
export const toPathType = codeReader('path type', pathType);
export const toKeyType = codeReader('key type', keyType);
export const toLogType = codeReader('log type', logType);

export function toImportMode(text: string): ImportMode {
  return text === importMode.replace ? importMode.replace : importMode.merge;
}

export function toJobKind(text: string): JobKind {
  return text === jobKind.delete ? jobKind.delete : jobKind.import;
}
