import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// `npm run test:long [-- STEP...]`: runs the long version of every campaign on running servers. Seeds are fixed. Prints the
// duration of each step and exits 1 on any failure.

const seed = '18';

/** The tests in the suite "servers" that have a long version. */
function serverTests(): string[] {
  return ['acceptance', 'contracts', 'integration'].flatMap((folder) =>
    readdirSync(join('test', folder))
      .map((name) => join('test', folder, name))
      .filter(
        (path) =>
          path.endsWith('.test.ts') &&
          /inject\('campaign'\)|support\/(?:campaign|staging-places)\.ts/.test(readFileSync(path, 'utf8')),
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

/** Arguments for Node. The options limit each campaign, so that the whole run takes less than two hours on two cores. */
const steps: Readonly<Record<string, readonly string[]>> = {
  unit: vitest('unit'),
  servers: vitest('servers', ...serverTests()),
  pages: vitest('pages'),
  measured: vitest('measured'),
  privacy: vitest('privacy'),
  fault: vitest('fault'),
  'fault-alone': vitest('fault-alone'),
  misconfigured: vitest('misconfigured'),
  console: vitest('console'),
  replicated: vitest('replicated'),
  gates: vitest('gates'),
  chaos: ['test/chaos/run.ts', '--minutes', '5', '--seed', seed, '--partners', '100', '--workers', '3'],
  outages: ['test/chaos/outages.ts', '--seconds', '30', '--seed', seed, '--partners', '20'],
  fairness: ['test/chaos/fairness.ts', '--jobs', '1000', '--partners', '100'],
  'killed-upload': ['test/chaos/killed-upload.ts', '--gigabytes', '1'],
  'many-workers': ['test/chaos/many-workers.ts', '--workers', '16', '--lanes', '100'],
  clears: ['test/chaos/clears.ts', '--clears', '5000', '--audiences', '500'],
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in steps));
if (unknown.length > 0) throw new Error(`unknown step ${unknown.join(', ')}; known: ${Object.keys(steps).join(', ')}`);

type Result = { readonly name: string; readonly seconds: number; readonly hasPassed: boolean };

async function run(name: string): Promise<Result> {
  process.stdout.write(`\n== ${name}\n`);
  const start = performance.now();
  const child = spawn(process.execPath, steps[name] ?? [], { stdio: ['ignore', 'inherit', 'inherit'] });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  const result = { name, seconds: (performance.now() - start) / 1000, hasPassed: code === 0 };
  process.stdout.write(`${result.hasPassed ? 'passed' : 'FAILED'} ${name} after ${result.seconds.toFixed(0)} s\n`);
  return result;
}

// One step at a time: on two cores, any two of them together take longer than one after the other.
const start = performance.now();
const results: Result[] = [];
for (const name of Object.keys(steps)) if (chosen.length === 0 || chosen.includes(name)) results.push(await run(name));

process.stdout.write('\nSeconds per step:\n');
for (const { name, seconds, hasPassed } of results)
  process.stdout.write(`${seconds.toFixed(0).padStart(6)}  ${name}${hasPassed ? '' : '  FAILED'}\n`);
process.stdout.write(`${((performance.now() - start) / 1000).toFixed(0).padStart(6)}  in total\n`);
process.exitCode = results.every(({ hasPassed }) => hasPassed) ? 0 : 1;
