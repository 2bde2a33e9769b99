import type { Problem, Rejects, RejectsFile } from '@inlet/sdk/browser';
import type { api } from '../api.ts';

export type RejectsFiles = readonly RejectsFile[];

/** The command line downloads the files of larger exports. */
export const maxFilesShown = 100;

const pollMs = 1_000;

type Events = {
  readonly onRejects: (found: Rejects) => void;
  readonly onFiles: (files: RejectsFiles) => void;
  readonly onProblem: (problem: Problem) => void;
};

/** Polls the export until it has ended, and then lists its files. */
export async function followRejects(
  inlet: Pick<typeof api, 'getImportRejects' | 'listImportRejects'>,
  id: number,
  { onRejects, onFiles, onProblem }: Events,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const result = await inlet.getImportRejects(id, { signal });
    if (signal.aborted) return;
    if (!result.ok) return onProblem(result.problem);
    onRejects(result.value);
    if (result.value.status >= 2) break;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    if (signal.aborted) return;
  }
  const files = await inlet.listImportRejects(id, { signal, query: { limit: maxFilesShown } });
  if (signal.aborted) return;
  if (files.ok) onFiles(files.value);
  else onProblem(files.problem);
}
