import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The packages in build order. Each package needs the compiled output of the packages before it. */
type Package = 'sdk' | 'row-rule' | 'cli';

const npm = (cwd: string, ...parameters: string[]): string =>
  execFileSync('npm', [...parameters, '--loglevel=error'], { cwd, encoding: 'utf8' });

/**
 * Creates a folder outside the repository and installs only these packages there, from the archives that are published.
 */
export function installPacked(...packages: readonly Package[]): {
  readonly folder: string;
  readonly remove: () => void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-packed-'));
  const archives = packPackages(folder, packages);
  return { folder: installArchives(folder, archives), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Builds and packs the packages below `folder`, and returns the paths of the archives. */
export function packPackages(folder: string, packages: readonly Package[]): string[] {
  // Builds in a copy, because another test may build at the same time.
  const tree = join(folder, 'tree');
  for (const name of packages) cpSync(join(root, 'packages', name), join(tree, 'packages', name), { recursive: true });
  for (const name of ['node_modules', 'scripts']) symlinkSync(join(root, name), join(tree, name));
  return packages.map((name) => {
    const built = join(tree, 'packages', name);
    npm(built, 'run', '--silent', 'build');
    return join(folder, npm(join(built, 'dist'), 'pack', '--silent', '--pack-destination', folder).trim());
  });
}

/** Installs archives in a new project below `folder`, and returns the project. */
export function installArchives(folder: string, archives: readonly string[]): string {
  const partner = join(folder, 'partner');
  mkdirSync(partner);
  writeFileSync(join(partner, 'package.json'), '{ "private": true, "type": "module" }\n');
  npm(partner, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...archives);
  return partner;
}
