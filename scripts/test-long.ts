import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// `npm run test:long [-- STEP...]`: runs the long version of every campaign in sequence, on running servers. Seeds are
// fixed. Prints the duration of each step and exits 1 on any failure.

const seed = '18';

/** The tests in the suite "servers" that have a long version. */
function serverTests(): string[] {
  return ['acceptance', 'contracts', 'integration'].flatMap((folder) =>
    readdirSync(join('test', folder))
      .map((name) => join('test', folder, name))
      .filter(
        (path) =>
          path.endsWith('.test.ts') && /inject\('campaign'\)|support\/campaign\.ts/.test(readFileSync(path, 'utf8')),
      ),
  );
}

const vitest = (project: string, ...files: string[]): string[] => [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--mode=long',
  `--project=${project}`,
  ...files,
];

/** Arguments for Node. The options limit each campaign, so that the whole run takes about an hour on two cores. */
const steps: Readonly<Record<string, readonly string[]>> = {
  unit: vitest('unit'),
  servers: vitest('servers', ...serverTests()),
  pages: vitest('pages'),
  measured: vitest('measured'),
  fault: vitest('fault'),
  'fault-alone': vitest('fault-alone'),
  gates: vitest('gates'),
  chaos: ['test/chaos/run.ts', '--minutes', '5', '--seed', seed, '--partners', '100', '--workers', '3'],
  outages: ['test/chaos/outages.ts', '--seconds', '30', '--seed', seed, '--partners', '20'],
  fairness: ['test/chaos/fairness.ts', '--jobs', '1000', '--partners', '100'],
  'killed-upload': ['test/chaos/killed-upload.ts', '--gigabytes', '1'],
  'many-workers': ['test/chaos/many-workers.ts', '--workers', '16', '--lanes', '100'],
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in steps));
if (unknown.length > 0) throw new Error(`unknown step ${unknown.join(', ')}; known: ${Object.keys(steps).join(', ')}`);

const results: { name: string; seconds: number; hasPassed: boolean }[] = [];
for (const [name, parameters] of Object.entries(steps)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  process.stdout.write(`\n== ${name}\n`);
  const start = performance.now();
  const { status } = spawnSync(process.execPath, parameters, { stdio: 'inherit' });
  results.push({ name, seconds: (performance.now() - start) / 1000, hasPassed: status === 0 });
}

process.stdout.write('\nSeconds per step:\n');
for (const { name, seconds, hasPassed } of results)
  process.stdout.write(`${seconds.toFixed(0).padStart(6)}  ${name}${hasPassed ? '' : '  FAILED'}\n`);
const total = results.reduce((sum, { seconds }) => sum + seconds, 0);
process.stdout.write(`${total.toFixed(0).padStart(6)}  in total\n`);
process.exitCode = results.every(({ hasPassed }) => hasPassed) ? 0 : 1;
