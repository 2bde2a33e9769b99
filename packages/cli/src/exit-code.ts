/** What a script can tell from how a command ended. `inlet help exit-codes` and decision 0042 say the same. */
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
