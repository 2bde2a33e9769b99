import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The repository under test. Tests plant violations only in copies of it. */
const root = join(import.meta.dirname, '../..');

/** All files that are tracked or not ignored, relative to the root. */
export function listTrackedFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  return listed
    .split('\0')
    .filter((path) => path !== '' && statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true);
}

export function pathInRepository(path: string): string {
  return join(root, path);
}

type Outcome = { readonly passed: boolean; readonly output: string };

export type TreeCopy = {
  readonly folder: string;
  readonly write: (path: string, text: string) => void;
  readonly remove: (path: string) => void;
  /** Runs a package.json script in the copy. */
  readonly run: (script: string) => Promise<Outcome>;
  readonly drop: () => void;
};

/** Copies the repository to a temporary folder and links the installed packages. */
export function copyTree(): TreeCopy {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-gates-'));
  for (const path of listTrackedFiles()) cpSync(join(root, path), join(folder, path));
  linkPackages(folder);
  return {
    folder,
    write: (path, text) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    remove: (path) => rmSync(join(folder, path)),
    run: (script) => runScript(folder, script),
    drop: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Links the installed packages. This repository's own packages link to the folders of the copy. */
function linkPackages(folder: string): void {
  mkdirSync(join(folder, 'node_modules/@inlet'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@inlet') symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  for (const name of readdirSync(join(root, 'node_modules/@inlet'))) {
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules/@inlet', name));
  }
}

function runScript(folder: string, script: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', script], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const output: string[] = [];
    const keep = (text: Buffer): void => void output.push(text.toString());
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (code) => resolve({ passed: code === 0, output: output.join('') }));
  });
}
