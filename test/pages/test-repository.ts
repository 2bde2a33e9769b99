import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listTrackedFiles, pathInRepository } from '../gates/tree-copy.ts';

/**
 * Creates a repository that contains the working tree, including uncommitted changes. It is the repository that a
 * reader of the pages clones.
 */
export function makeRepository(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-repository-'));
  for (const path of listTrackedFiles()) cpSync(pathInRepository(path), join(folder, path));
  const git = (...parameters: string[]): void => {
    execFileSync('git', ['-C', folder, '-c', 'user.name=Inlet', '-c', 'user.email=inlet@localhost', ...parameters]);
  };
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'The working tree');
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * The npm settings of the user who runs the tests. A terminal has an empty home directory, so without these settings
 * npm would use another registry and no cache.
 */
export function npmSettings(): Record<string, string> {
  const setting = (name: string): string =>
    execFileSync('npm', ['config', 'get', name, '--loglevel=silent'], { encoding: 'utf8' }).trim();
  return { npm_config_userconfig: setting('userconfig'), npm_config_cache: setting('cache') };
}

/** The gate links the installed packages of this repository. The long run follows the pages and installs the packages. */
export function linkPackages(commands: string): string {
  const installed = pathInRepository('node_modules');
  const link = [
    'mkdir -p node_modules/@inlet',
    `find ${installed} -mindepth 1 -maxdepth 1 -not -name @inlet -exec ln -s {} node_modules/ ';'`,
    'for package in packages/*; do ln -s "$PWD/$package" node_modules/@inlet/; done',
  ].join('\n');
  return commands.replace(/^npm ci .*$/m, () => link).replace(/^npm run --silent stack:install.*$/m, 'true');
}
