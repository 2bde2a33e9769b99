import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { waitUntil } from '../support/wait-until.ts';

export type Terminal = {
  readonly folder: string;
  /** Runs commands to their end and gives what they printed. The first that fails is an error. */
  readonly run: (commands: string) => Promise<string>;
  /**
   * The same for commands that do not end by themselves; is back when they have printed this text. This terminal is busy
   * then: what comes next is run in a new one, which knows nothing of it.
   */
  readonly start: (commands: string, until: string) => Promise<string>;
  /** Ends the shell and what was started. */
  readonly close: () => Promise<void>;
};

/** An installation of packages may take minutes. */
const seconds = 1_200;

/** A shell in an empty folder, with an empty home and nothing of the developer's environment but what is handed over. `programs`: folders for its path. */
export function openTerminal(environment: Readonly<Record<string, string>>, ...programs: string[]): Terminal {
  const place = mkdtempSync(join(tmpdir(), 'inlet-pages-'));
  const [folder, home] = [join(place, 'empty'), join(place, 'home')];
  for (const path of [folder, home]) mkdirSync(path);
  const path = [...programs, dirname(process.execPath), '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'].join(':');
  const openOne = (): Shell => openShell(folder, { PATH: path, HOME: home, ...environment });
  let shell = openOne();
  const busy: Shell[] = [];

  return {
    folder,
    run: (commands) => shell.run(commands),
    start: async (commands, until) => {
      const log = join(place, `started-${busy.length}.log`);
      writeFileSync(log, '');
      await shell.run(`(\n${commands}\n) >${log} 2>&1 &`);
      busy.push(shell);
      shell = openOne();
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
      for (const { group } of [shell, ...busy]) await endGroup(group);
      rmSync(place, { recursive: true, force: true });
    },
  };
}

type Shell = Pick<Terminal, 'run'> & { readonly group: number | undefined };

function openShell(cwd: string, env: Readonly<Record<string, string>>): Shell {
  const shell = spawn('bash', ['-e'], {
    detached: true, // a group of its own, so that it can be ended with all that it started
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  const keep = (chunk: Buffer): void => void (printed += chunk.toString());
  shell.stdout.on('data', keep);
  shell.stderr.on('data', keep);
  let serial = 0;

  /** What a line after the commands prints tells that they are through. */
  async function run(commands: string): Promise<string> {
    const end = `-- through with ${(serial += 1)} --`;
    printed = '';
    shell.stdin.write(`{\n${commands}\n} </dev/null 2>&1\necho "${end}"\n`);
    await waitUntil(
      'commands are through',
      async () => Promise.resolve(shell.exitCode !== null || printed.includes(end)),
      seconds,
    );
    if (shell.exitCode !== null) throw new Error(`ended with ${shell.exitCode}:\n${commands}\n${printed}`);
    return printed.replace(`${end}\n`, '');
  }
  return { group: shell.pid, run };
}

/** The shell and whatever it started; each may end in its own time. */
async function endGroup(group: number | undefined): Promise<void> {
  if (group === undefined) return;
  if (isThere(group)) process.kill(-group, 'SIGTERM');
  await waitUntil('everything that was started has ended', async () => Promise.resolve(!isThere(group)));
}

function isThere(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
