/** Exit codes, as documented in `inlet help exit-codes` and docs/decisions/command-line.md. */
export const exitCode = {
  good: 0,
  /** The command failed, or the file or job has errors. */
  failed: 1,
  /** The command line is not valid. */
  wrongUse: 2,
  /** Not logged in, or the key lacks permission. */
  notAllowed: 3,
  /** The service or the storage is unavailable or busy. A later retry may succeed. */
  unavailable: 4,
  /** Interrupted by Ctrl-C. The code is 128 plus the signal number, as in shells. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

type FailureDetails = {
  readonly code: string;
  /** The meaning of the code, if `detail` alone is not clear. */
  readonly title?: string | undefined;
  /** The title for the problem document, if the text output shows only `detail`. */
  readonly problemTitle?: string | undefined;
  /** What went wrong, in one sentence. */
  readonly detail: string;
  /** What to do about it. */
  readonly remedy: string;
  readonly exitCode: ExitCode;
  /** Request ID of the response, for support. */
  readonly requestId?: string | undefined;
  /** The invalid fields. */
  readonly fields?: readonly { readonly pointer: string; readonly detail: string }[] | undefined;
  /** Further lines, for example one per invalid setting. Omitted from the problem document. */
  readonly more?: readonly string[] | undefined;
  /** The status in the problem document of the API. */
  readonly status?: number | undefined;
};

/** Ends a command with an error message, a remedy, and an exit code. */
export class CliFailure extends Error {
  readonly details: FailureDetails;

  constructor(details: FailureDetails) {
    super(`${details.code}: ${details.detail}`);
    this.name = 'CliFailure';
    this.details = details;
  }
}

export function wrongUse(detail: string, remedy: string): CliFailure {
  return new CliFailure({ code: 'wrong_use', detail, remedy, exitCode: exitCode.wrongUse });
}

/** A prompt is necessary, but there is no terminal. The error names the option that provides the value. */
export function missingAnswer(what: string, flag: string): CliFailure {
  return new CliFailure({
    code: 'missing_answer',
    detail: `${what} is required, but there is no terminal for a prompt.`,
    remedy: `Provide ${flag}.`,
    exitCode: exitCode.wrongUse,
  });
}

/** The user pressed Ctrl-C. `detail` describes what continues in the background. */
export function interrupted(detail: string): CliFailure {
  return new CliFailure({ code: 'interrupted', detail, remedy: '', exitCode: exitCode.interrupted });
}

/** The user declined a confirmation prompt. */
export function declined(detail: string): CliFailure {
  return new CliFailure({ code: 'declined', detail, remedy: '', exitCode: exitCode.interrupted });
}
