import { execFile } from 'node:child_process';

/** Runs a command and returns its output. On failure, the error includes the last lines of the output. */
export function run(
  command: string,
  commandArguments: readonly string[],
  { timeoutMs = 60_000, acceptExitCodes = [] }: { timeoutMs?: number; acceptExitCodes?: readonly number[] } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    // Runs in "/", because the user postgres might not have access to the current directory.
    execFile(command, commandArguments, { timeout: timeoutMs, cwd: '/' }, (error, stdout, stderr) => {
      if (error === null || (typeof error.code === 'number' && acceptExitCodes.includes(error.code))) {
        resolve(stdout);
        return;
      }
      const output = `${stdout}\n${stderr}`.trim().split('\n').slice(-8).join('\n');
      reject(new Error(`${command} failed (${String(error.code ?? error.signal)}): ${output}`));
    });
  });
}
