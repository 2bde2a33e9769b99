import { execFileSync } from 'node:child_process';
import { bench as clear } from './benches/clear.ts';
import { bench as matchedDevices } from './benches/matched-devices.ts';
import { bench as smallFiles } from './benches/small-files.ts';
import { summarize, type Bench } from './bench.ts';
import { writeResult } from './results.ts';

// npm run bench -- <name>: runs one benchmark on the servers of `npm run stack:up` and notes the result.

const benches: ReadonlyMap<string, Bench> = new Map([
  ['clear', clear],
  ['matched-devices', matchedDevices],
  ['small-files', smallFiles],
]);

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const git = (...parameters: string[]): string => execFileSync('git', parameters, { encoding: 'utf8' }).trim();

const [name = ''] = process.argv.slice(2);
const bench = benches.get(name);
if (!bench) {
  say(
    ['usage: npm run bench -- <name>', ...Array.from(benches, ([known, { title }]) => `  ${known}: ${title}`)].join(
      '\n',
    ),
  );
  process.exit(1);
}
const commit =
  git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'src', 'migrations') === '' ? '' : '+');
const { pairs, rows, notes = [] } = await bench.run(say);
const result = { bench: name, ...summarize(pairs), rows, commit };
writeResult(bench, { ...result, notes });
process.stdout.write(`${JSON.stringify(result)}\n`);
