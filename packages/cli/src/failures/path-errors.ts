import { CliFailure, exitCode, wrongUse } from './cli-failure.ts';

/** Why the system refuses, in words; others are told by their code alone. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it is not there',
  EEXIST: 'something else has that name',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is no folder',
  ELOOP: 'its links lead round in circles',
  ENAMETOOLONG: 'its name is too long',
  EROFS: 'the disk takes no writes',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  EMFILE: 'too many files are open',
  EIO: 'the disk failed',
};

/** `EACCES`; null for an error that is not of the system. */
export function systemCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null;
  return typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code) ? error.code : null;
}

/** `permission denied (EACCES)`; null for an error that is not of the system. */
export function reasonOf(error: unknown): string | null {
  const code = systemCodeOf(error);
  if (code === null) return null;
  return Object.hasOwn(reasons, code) ? `${reasons[code]} (${code})` : code;
}

const remedies = {
  read: 'See who may read it with: ls -l',
  written: 'See who may write there with: ls -ld',
} as const;

/** What the system refuses about a file or a folder is nobody's mistake but this machine's. Other errors stay as they are. */
export function pathFailure(
  path: string,
  what: 'read' | 'written',
  error: unknown,
  remedy: string = remedies[what],
): Error {
  const reason = reasonOf(error);
  if (reason === null) return error instanceof Error ? error : new Error(String(error));
  if (what === 'read' && systemCodeOf(error) === 'ENOENT') {
    return wrongUse(`There is no file or folder ${path}.`, 'Check the path: it is one on this machine.');
  }
  return new CliFailure({
    code: what === 'read' ? 'unreadable_file' : 'unwritable_file',
    detail: `${path} cannot be ${what}: ${reason}.`,
    remedy,
    exitCode: exitCode.failed,
  });
}
