import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { installOnce } from './packed-packages.ts';
import type { Ran } from './run-inlet.ts';
import { compileCache } from './environment.ts';
import { waitUntil } from './wait-until.ts';

/**
 * One step of a terminal session: the output to wait for, an action, and the input. The next step matches only later
 * output.
 */
export type Step = { readonly sees: string; readonly types: string; readonly before?: () => Promise<void> };

type Environment = Readonly<Record<string, string>>;

export type PartnerCli = {
  readonly folder: string;
  /** Runs the command without a terminal, as in a script. */
  readonly run: (
    parameters: readonly string[],
    environment?: Environment,
    input?: string,
    onText?: (part: string) => void,
  ) => Promise<Ran>;
  /** Runs the command in a 100-column terminal. */
  readonly onTerminal: (
    parameters: readonly string[],
    steps?: readonly Step[],
    environment?: Environment,
  ) => Promise<{ readonly code: number; readonly shown: string }>;
  readonly remove: () => void;
};

/** The partner CLI, packed and installed in an empty folder, with its own home directory. */
export async function installPartnerCli(): Promise<PartnerCli> {
  const { folder, remove } = await installOnce('cli');
  const main = join(folder, 'node_modules/@inlet/cli/main.js');
  const home = join(folder, 'home');
  mkdirSync(home);
  // Without the cache, each of about a hundred processes compiles the same modules.
  const base = { PATH: '/usr/bin:/bin', HOME: home, NODE_COMPILE_CACHE: compileCache() };
  return {
    folder,
    remove,
    run: async (parameters, environment = {}, input = '', onText = () => undefined) => {
      const child = spawn(process.execPath, [main, ...parameters], { cwd: folder, env: { ...base, ...environment } });
      child.stdin.end(input);
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => onText(part.toString()));
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      return { code: child.exitCode ?? -1, out, err };
    },
    onTerminal: async (parameters, steps = [], environment = {}) => {
      const words = [process.execPath, main, ...parameters].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
      // The terminal is provided by `script`, which is part of every Debian installation.
      const child = spawn('script', ['-qefc', `stty cols 100 rows 30; exec ${words.join(' ')}`, '/dev/null'], {
        cwd: folder,
        env: { ...base, TERM: 'xterm-256color', SHELL: '/bin/sh', ...environment },
      });
      let shown = '';
      child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
      const ended = once(child, 'close');
      let from = 0;
      for (const { sees, types, before } of steps) {
        await waitUntil(`the terminal shows "${sees}" in ${JSON.stringify(shown)}`, () => {
          const at = shown.indexOf(sees, from);
          if (at >= 0) from = at + sees.length;
          return Promise.resolve(at >= 0);
        });
        await before?.();
        child.stdin.write(types);
      }
      await ended;
      return { code: child.exitCode ?? -1, shown };
    },
  };
}

export const enter = '\r';
export const controlC = '\x03';
