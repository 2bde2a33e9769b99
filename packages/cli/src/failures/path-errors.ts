import { CliFailure, exitCode, wrongUse } from './cli-failure.ts';

/** Descriptions of system errors. Other errors show only their code. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'not found',
  EEXIST: 'the name is taken',
  EISDIR: 'is a folder',
  ENOTDIR: 'part of the path is not a folder',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EMFILE: 'too many open files',
  EIO: 'input/output error',
};

/** Returns the system error code, for example `EACCES`. Null for other errors. */
export function systemCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null;
  return typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code) ? error.code : null;
}

/** Returns a description, for example `permission denied (EACCES)`. Null for errors that are not system errors. */
export function reasonOf(error: unknown): string | null {
  const code = systemCodeOf(error);
  if (code === null) return null;
  return Object.hasOwn(reasons, code) ? `${reasons[code]} (${code})` : code;
}

const remedies = {
  read: 'Check its permissions: ls -l',
  written: 'Check the permissions of the folder: ls -ld',
} as const;

/** Converts a system error for a path to a CLI failure. Returns other errors unchanged. */
export function pathFailure(
  path: string,
  what: 'read' | 'written',
  error: unknown,
  remedy: string = remedies[what],
): Error {
  const reason = reasonOf(error);
  if (reason === null) return error instanceof Error ? error : new Error(String(error));
  if (what === 'read' && systemCodeOf(error) === 'ENOENT') {
    return wrongUse(`The file or folder ${path} does not exist.`, 'Check the local path.');
  }
  return new CliFailure({
    code: what === 'read' ? 'unreadable_file' : 'unwritable_file',
    detail: `${path} cannot be ${what}: ${reason}.`,
    remedy,
    exitCode: exitCode.failed,
  });
}
