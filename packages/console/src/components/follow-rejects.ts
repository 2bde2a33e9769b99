import type { Answered, Problem, Rejects, RejectsFile } from '@inlet/sdk/browser';
import type { Credentials } from './credentials-dialog.tsx';
import type { ChangeOptions } from './use-change.ts';

export type RejectsFiles = readonly RejectsFile[];

/** The files of larger exports are downloaded with the command line. */
export const maxFilesShown = 100;

const pollMs = 1_000;

type Options = { readonly signal: AbortSignal };

/** The export of all rejected rows of an import, or of one file of an audience. */
export type RejectsExport = {
  /** Whether the files are in the partner's own bucket. */
  readonly needsCredentials: boolean;
  /** `credentials` is set if the export needs them. */
  readonly request: (credentials?: Credentials, options?: ChangeOptions) => Promise<Answered<Rejects>>;
  readonly get: (options: Options) => Promise<Answered<Rejects>>;
  readonly listFiles: (options: Options) => Promise<Answered<RejectsFiles>>;
};

type Events = {
  readonly onRejects: (found: Rejects) => void;
  readonly onFiles: (files: RejectsFiles) => void;
  readonly onProblem: (problem: Problem) => void;
};

/** Polls the export until it has ended, and then lists its files. */
export async function followRejects(
  { get, listFiles }: RejectsExport,
  { onRejects, onFiles, onProblem }: Events,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const result = await get({ signal });
    if (signal.aborted) return;
    if (!result.ok) return onProblem(result.problem);
    onRejects(result.value);
    if (result.value.status >= 2) break;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    if (signal.aborted) return;
  }
  const files = await listFiles({ signal });
  if (signal.aborted) return;
  if (files.ok) onFiles(files.value);
  else onProblem(files.problem);
}
