import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listTrackedFiles, pathInRepository } from '../gates/tree-copy.ts';

/** A repository with the tree as it stands, whether it is committed or not: what a reader of the pages would clone. */
export function makeRepository(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-repository-'));
  for (const path of listTrackedFiles()) cpSync(pathInRepository(path), join(folder, path));
  const git = (...parameters: string[]): void => {
    execFileSync('git', ['-C', folder, '-c', 'user.name=Inlet', '-c', 'user.email=inlet@localhost', ...parameters]);
  };
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'The tree as it stands');
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What npm needs of whoever runs the tests: a terminal has an empty home, and would ask another registry and have no cache. */
export function npmSettings(): Record<string, string> {
  const setting = (name: string): string =>
    execFileSync('npm', ['config', 'get', name, '--loglevel=silent'], { encoding: 'utf8' }).trim();
  return { npm_config_userconfig: setting('userconfig'), npm_config_cache: setting('cache') };
}
