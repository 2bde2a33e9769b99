import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { installArchives, packPackages } from '../../scripts/packages/install-packed.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { isAlive } from './is-alive.ts';
import { waitUntil } from './wait-until.ts';

// Building, packing, and installing the packages takes half a minute of CPU time, so it happens once per vitest run.

type Installed = { readonly folder: string; readonly remove: () => void };

const packedSchema = z.object({ sdk: z.string(), cli: z.string() });

/** A copy of the packed SDK or CLI, installed in an otherwise empty project. */
export async function installOnce(name: 'sdk' | 'cli'): Promise<Installed> {
  const project = (await packOnce())[name];
  const folder = mkdtempSync(join(tmpdir(), 'inlet-packed-'));
  cpSync(project, folder, { recursive: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

async function packOnce(): Promise<z.infer<typeof packedSchema>> {
  // The parent of a vitest worker process is the process that runs `global-setup.ts`.
  const folder = folderOfRun(process.ppid);
  const result = join(folder, 'projects.json');
  if (!existsSync(folder)) {
    try {
      mkdirSync(folder);
      const [sdk = '', ...others] = packPackages(folder, ['sdk', 'row-rule', 'cli']);
      const install = (name: string, archives: readonly string[]): string => {
        mkdirSync(join(folder, name));
        return installArchives(join(folder, name), archives);
      };
      const projects = { sdk: install('sdk', [sdk]), cli: install('cli', [sdk, ...others]) };
      writeFileSync(result, JSON.stringify(projects), { flush: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  await waitUntil('another worker has packed the packages', () => Promise.resolve(existsSync(result)), 300);
  return packedSchema.parse(JSON.parse(readFileSync(result, 'utf8')));
}

/** Removes the packages of this run and of runs that were killed. */
export function removePackedPackages(): void {
  for (const name of readdirSync(readAddresses().directory)) {
    const run = Number(/^packed-(\d+)$/.exec(name)?.[1]);
    if (Number.isNaN(run) || (run !== process.pid && isAlive(run))) continue;
    rmSync(folderOfRun(run), { recursive: true, force: true });
  }
}

function folderOfRun(pid: number): string {
  return join(readAddresses().directory, `packed-${pid}`);
}
