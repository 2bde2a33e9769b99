import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { waitUntil } from '../support/wait-until.ts';

export type Terminal = {
  readonly folder: string;
  /** Runs commands to completion and returns their output. Throws if a command fails. */
  readonly run: (commands: string) => Promise<string>;
  /**
   * Starts commands that run until they are stopped, and returns when their output contains this text. The next
   * commands run in a new shell, without the variables of the previous shell.
   */
  readonly start: (commands: string, until: string) => Promise<string>;
  /** Stops the shells and all processes that they started. */
  readonly close: () => Promise<void>;
};

/** Installing packages can take minutes. */
const seconds = 1_200;

/**
 * Opens a shell in an empty folder with an empty home directory and only the given environment. `programs` lists
 * folders to add to PATH.
 */
export function openTerminal(environment: Readonly<Record<string, string>>, ...programs: string[]): Terminal {
  const root = mkdtempSync(join(tmpdir(), 'inlet-pages-'));
  const [folder, home] = [join(root, 'empty'), join(root, 'home')];
  for (const path of [folder, home]) mkdirSync(path);
  const path = [...programs, dirname(process.execPath), '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'].join(':');
  const openNext = (): Shell => openShell(folder, { PATH: path, HOME: home, ...environment });
  let shell = openNext();
  const busy: Shell[] = [];

  return {
    folder,
    run: (commands) => shell.run(commands),
    start: async (commands, until) => {
      const log = join(root, `started-${busy.length}.log`);
      writeFileSync(log, '');
      await shell.run(`(\n${commands}\n) >${log} 2>&1 &`);
      busy.push(shell);
      shell = openNext();
      await waitUntil(
        `"${until}" is printed`,
        async () => Promise.resolve(readFileSync(log, 'utf8').includes(until)),
        seconds,
      ).catch((error: unknown) => {
        throw new Error(`${commands}\n${readFileSync(log, 'utf8')}`, { cause: error });
      });
      return readFileSync(log, 'utf8');
    },
    close: async () => {
      for (const { group } of [shell, ...busy]) await stopGroup(group);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

type Shell = Pick<Terminal, 'run'> & { readonly group: number | undefined };

function openShell(cwd: string, env: Readonly<Record<string, string>>): Shell {
  const shell = spawn('bash', ['-e'], {
    detached: true, // Creates a process group, so that the shell can be stopped with its children.
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  const keep = (chunk: Buffer): void => void (printed += chunk.toString());
  shell.stdout.on('data', keep);
  shell.stderr.on('data', keep);
  let serial = 0;

  /** Prints a line after the commands to mark their end. */
  async function run(commands: string): Promise<string> {
    const end = `-- end of ${(serial += 1)} --`;
    printed = '';
    shell.stdin.write(`{\n${commands}\n} </dev/null 2>&1\necho "${end}"\n`);
    await waitUntil(
      'the commands have finished',
      async () => Promise.resolve(shell.exitCode !== null || printed.includes(end)),
      seconds,
    );
    if (shell.exitCode !== null) throw new Error(`exited with ${shell.exitCode}:\n${commands}\n${printed}`);
    return printed.replace(`${end}\n`, '');
  }
  return { group: shell.pid, run };
}

/** Stops the process group and waits until all its processes have exited. */
async function stopGroup(group: number | undefined): Promise<void> {
  if (group === undefined) return;
  if (isRunning(group)) process.kill(-group, 'SIGTERM');
  await waitUntil('all started processes have exited', async () => Promise.resolve(!isRunning(group)));
}

function isRunning(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
