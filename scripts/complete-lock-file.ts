import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

// Run this after "npm install" has changed package-lock.json. To complete another lock file, pass its folder (site). If
// the registry lacks the binaries for some platforms, npm omits those optional packages from the lock file, and "npm
// ci" then rejects the file as incomplete. This script adds the packages by name and version. Each entry names its
// platform, so that npm installs the package only there.

const packageSchema = z.looseObject({
  version: z.string().optional(),
  dev: z.boolean().optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});
const lockSchema = z.looseObject({ packages: z.record(z.string(), packageSchema) });

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'wasm32',
  'win32',
];
const processors = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

const path = join(process.argv[2] ?? '.', 'package-lock.json');
const lock = lockSchema.parse(JSON.parse(await readFile(path, 'utf8')));
let added = 0;
for (const { optionalDependencies = {}, dev } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] !== undefined || !/^\d/.test(version)) continue;
    const os = systems.find((system) => name.replace('windows', 'win32').includes(system));
    const cpu = processors.find((processor) => name.includes(processor));
    if (os === undefined || cpu === undefined) continue;
    lock.packages[key] = {
      version,
      ...(dev === true ? { dev } : {}),
      optional: true,
      os: [os],
      cpu: [cpu],
      ...libcOf(name),
    };
    added += 1;
  }
}
const packages = Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1));
await writeFile(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`);
process.stdout.write(`Added ${added} packages for other platforms to ${path}\n`);

function libcOf(name: string): { libc?: string[] } {
  return name.includes('musl') ? { libc: ['musl'] } : {};
}
