import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A folder outside of the tree with nothing but the SDK installed, from the archive that would be published. */
export function installPacked(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-sdk-'));
  const npm = (cwd: string, ...parameters: string[]): string =>
    execFileSync('npm', [...parameters, '--loglevel=error'], { cwd, encoding: 'utf8' });
  npm(root, 'run', '--silent', 'build', '--workspace', '@inlet/sdk');
  const archive = npm(join(root, 'packages/sdk/dist'), 'pack', '--silent', '--pack-destination', folder).trim();
  mkdirSync(join(folder, 'partner'));
  const partner = join(folder, 'partner');
  writeFileSync(join(partner, 'package.json'), '{ "private": true, "type": "module" }\n');
  npm(partner, 'install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, archive));
  return { folder: partner, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
