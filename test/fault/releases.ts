import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listTrackedFiles, pathInRepository } from '../gates/tree-copy.ts';

// Creates source trees of other releases. They use the npm packages that are installed in this clone.

/** The release that a deployment of this tree replaces. */
const previousRelease = 'HEAD~1';

export type Release = { readonly folder: string; readonly remove: () => void };

/** Returns null without history, for example in a shallow clone or outside a repository. */
export function findPreviousRelease(): string | null {
  try {
    return git('rev-parse', '--verify', '--quiet', `${previousRelease}^{commit}`).toString().trim();
  } catch {
    return null;
  }
}

export function releaseOfCommit(commit: string): Release {
  const release = newRelease();
  execFileSync('tar', ['-x', '-C', release.folder], { input: git('archive', commit) });
  addPackages(release.folder);
  return release;
}

/** Creates a copy of the working tree with additional files. */
export function nextRelease(files: ReadonlyMap<string, string>): Release {
  const release = newRelease();
  for (const path of listTrackedFiles()) cpSync(pathInRepository(path), join(release.folder, path));
  for (const [path, text] of files) writeFileSync(join(release.folder, path), text);
  addPackages(release.folder);
  return release;
}

function git(...parameters: string[]): Buffer {
  return execFileSync('git', parameters, { stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 30 });
}

function newRelease(): Release {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-release-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Links workspace packages to the release's own folders and all other packages to this clone. */
function addPackages(folder: string): void {
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, '@inlet'), { recursive: true });
  for (const name of readdirSync('node_modules')) {
    if (name !== '@inlet') symlinkSync(join(process.cwd(), 'node_modules', name), join(packages, name));
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(packages, '@inlet', name));
  }
}
