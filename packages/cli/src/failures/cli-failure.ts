/** What a script can tell from how a command ended. `inlet help exit-codes` and docs/decisions/command-line.md say the same. */
export const exitCode = {
  good: 0,
  /** The work was not done, or the file or the job has something wrong in it. */
  failed: 1,
  /** The command cannot be carried out as it was given. */
  wrongUse: 2,
  /** No login, or a key that may not. */
  notAllowed: 3,
  /** The service or the storage is away or busy: the same command may work later. */
  away: 4,
  /** Ctrl-C: 128 and the number of the signal, as shells have it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

type Told = {
  readonly code: string;
  /** What the code means, where `detail` alone would not tell. */
  readonly title?: string | undefined;
  /** What went wrong here, in a sentence. */
  readonly detail: string;
  /** What to do about it. */
  readonly remedy: string;
  readonly exitCode: ExitCode;
  /** Of the answer, to be quoted when asking for help. */
  readonly requestId?: string | undefined;
  /** Each field that is wrong. */
  readonly fields?: readonly { readonly pointer: string; readonly detail: string }[] | undefined;
};

/** The end of a command that did not go well, with all that a person needs. */
export class CliFailure extends Error {
  readonly told: Told;

  constructor(told: Told) {
    super(`${told.code}: ${told.detail}`);
    this.name = 'CliFailure';
    this.told = told;
  }
}

/** The command was given in a way that cannot be carried out. */
export function wrongUse(detail: string, remedy: string): CliFailure {
  return new CliFailure({ code: 'wrong_use', detail, remedy, exitCode: exitCode.wrongUse });
}

/** Nobody is there to be asked: the flag that has the answer is named. */
export function missingAnswer(what: string, flag: string): CliFailure {
  return new CliFailure({
    code: 'missing_answer',
    detail: `${what} was not given, and there is no terminal to ask on.`,
    remedy: `Give ${flag}.`,
    exitCode: exitCode.wrongUse,
  });
}

/** Ctrl-C. `detail` says what goes on without us. */
export function interrupted(detail: string): CliFailure {
  return new CliFailure({ code: 'interrupted', detail, remedy: '', exitCode: exitCode.interrupted });
}

/** A question was answered with no. */
export function declined(detail: string): CliFailure {
  return new CliFailure({ code: 'declined', detail, remedy: '', exitCode: exitCode.interrupted });
}
