import { execFile } from 'node:child_process';

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** Runs the operator CLI of this or another source tree. Does not throw if the command fails. */
export function runInlet(
  environment: Readonly<Record<string, string>>,
  parameters: readonly string[],
  tree?: string,
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env: { PATH: '/usr/bin:/bin', ...environment }, cwd: tree };
    const child = execFile(process.execPath, ['bin/inlet', ...parameters], options, (_error, out, err) => {
      resolve({ code: child.exitCode ?? -1, out, err });
    });
  });
}

/** Returns the output of the command. If the command fails, throws an error with the complete output. */
export async function inletOutput(...given: Parameters<typeof runInlet>): Promise<string> {
  const { code, out, err } = await runInlet(...given);
  if (code !== 0) throw new Error(`inlet ${given[1].join(' ')}: ${out}${err}`);
  return out;
}
