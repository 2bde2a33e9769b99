import type { LocalCode, LocalProblem, StorageAnswer } from '@inlet/sdk';
import { CliFailure, type ExitCode, exitCode } from './cli-failure.ts';

type End = { readonly exitCode: ExitCode; readonly remedy: string };

const ends: Readonly<Record<LocalCode, End>> = {
  network_failed: {
    exitCode: exitCode.away,
    remedy: 'See whether the address is right (`inlet profiles`), and whether this machine reaches it.',
  },
  timed_out: { exitCode: exitCode.away, remedy: 'Try again; if it stays so, tell the operator.' },
  aborted: { exitCode: exitCode.interrupted, remedy: '' },
  unreadable_answer: {
    exitCode: exitCode.away,
    remedy: 'Something between here and Inlet answered, often a proxy: see whether the address is right.',
  },
  invalid_argument: { exitCode: exitCode.wrongUse, remedy: 'Correct what was given.' },
  unreadable_file: {
    exitCode: exitCode.failed,
    remedy: 'See that the file is there, can be read, and does not change meanwhile.',
  },
  unwritable_folder: {
    exitCode: exitCode.failed,
    remedy: 'Name another folder for the notes with XDG_STATE_HOME, or send without them: --no-resume',
  },
  storage_refused: { exitCode: exitCode.failed, remedy: 'Run the same again; if it stays so, tell the operator.' },
};

/** What went wrong on the way to the service or the storage, or on this machine. */
export function connectionFailure({ code, detail, attempts, storage }: LocalProblem): CliFailure {
  return new CliFailure({
    code,
    detail: attempts > 1 ? `${detail} (tried ${attempts} times)` : detail,
    ...(storage ? endOfStorage(storage) : ends[code]),
    requestId: storage?.request_id === '' ? undefined : storage?.request_id,
  });
}

function endOfStorage({ status, code, may_pass: isRetryable }: StorageAnswer): End {
  if (isRetryable) {
    return { exitCode: exitCode.away, remedy: 'The storage is away or busy: run the same again later.' };
  }
  if (code === 'RequestTimeTooSkewed') {
    return {
      exitCode: exitCode.notAllowed,
      remedy: 'Set the clock of this machine: a request is signed with its time.',
    };
  }
  if (status === 401 || status === 403 || code === 'NoSuchBucket') {
    const remedy = 'See that bucket, prefix and keys of the storage are those that were issued: `inlet login`.';
    return { exitCode: code === 'NoSuchBucket' ? exitCode.failed : exitCode.notAllowed, remedy };
  }
  if (code === 'NoSuchUpload') {
    const remedy = 'Something else ended this upload, perhaps the same command at the same time: run it again.';
    return { exitCode: exitCode.failed, remedy };
  }
  return { exitCode: exitCode.failed, remedy: 'Look the answer of the storage up in its documentation.' };
}
