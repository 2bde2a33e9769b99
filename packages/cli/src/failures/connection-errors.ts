import type { LocalCode, LocalProblem, StorageAnswer } from '@inlet/sdk';
import { CliFailure, type ExitCode, exitCode } from './cli-failure.ts';

type Outcome = { readonly exitCode: ExitCode; readonly remedy: string };

const outcomes: Readonly<Record<LocalCode, Outcome>> = {
  network_failed: {
    exitCode: exitCode.unavailable,
    remedy: 'Check the URL (`inlet profiles`), and make sure that this machine can reach it.',
  },
  timed_out: { exitCode: exitCode.unavailable, remedy: 'Try again. If the error persists, contact the operator.' },
  aborted: { exitCode: exitCode.interrupted, remedy: '' },
  unreadable_answer: {
    exitCode: exitCode.unavailable,
    remedy: 'The response did not come from Inlet. It may have come from a proxy. Check the URL.',
  },
  invalid_argument: { exitCode: exitCode.wrongUse, remedy: 'Correct the arguments.' },
  unreadable_file: {
    exitCode: exitCode.failed,
    remedy: 'Make sure that the file exists, is readable, and does not change during the upload.',
  },
  unwritable_folder: {
    exitCode: exitCode.failed,
    remedy: 'Set XDG_STATE_HOME to a writable folder, or pass --no-resume.',
  },
  storage_refused: {
    exitCode: exitCode.failed,
    remedy: 'Run the same command again. If the error persists, contact the operator.',
  },
};

/** Describes an error from the network, the storage, or this machine. */
export function connectionFailure({ code, detail, attempts, storage }: LocalProblem): CliFailure {
  return new CliFailure({
    code,
    detail: attempts > 1 ? `${detail} (tried ${attempts} times)` : detail,
    ...(storage ? storageOutcome(storage) : outcomes[code]),
    requestId: storage?.request_id === '' ? undefined : storage?.request_id,
  });
}

function storageOutcome({ status, code, may_pass: isRetryable }: StorageAnswer): Outcome {
  if (isRetryable) {
    return {
      exitCode: exitCode.unavailable,
      remedy: 'The object storage is unavailable or busy. Run the same command again later.',
    };
  }
  if (code === 'RequestTimeTooSkewed') {
    return {
      exitCode: exitCode.notAllowed,
      remedy: "Correct this machine's clock. Request signatures include the time.",
    };
  }
  if (status === 401 || status === 403 || code === 'NoSuchBucket') {
    const remedy = 'Check the storage bucket, prefix, and keys. Run `inlet login` to enter them again.';
    return { exitCode: code === 'NoSuchBucket' ? exitCode.failed : exitCode.notAllowed, remedy };
  }
  if (code === 'NoSuchUpload') {
    const remedy = 'Another process ended this upload. The same command may be running twice. Run it again.';
    return { exitCode: exitCode.failed, remedy };
  }
  return { exitCode: exitCode.failed, remedy: "Look up the error in the storage provider's documentation." };
}
