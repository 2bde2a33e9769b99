import { execFileSync } from 'node:child_process';
import { bench as appendTo50m } from './benches/append-to-50m.ts';
import { bench as clear } from './benches/clear.ts';
import { bench as composition } from './benches/composition.ts';
import { bench as compositionLarge } from './benches/composition-large.ts';
import { bench as erase } from './benches/erase.ts';
import { bench as fold } from './benches/fold.ts';
import { bench as frontDoorImport } from './benches/front-door-import.ts';
import { bench as frontDoorRead } from './benches/front-door-read.ts';
import { bench as getObject } from './benches/get-object.ts';
import { bench as growth } from './benches/growth.ts';
import { bench as import10m5col } from './benches/import-10m-5col.ts';
import { bench as latency } from './benches/latency.ts';
import { bench as load10mCsv } from './benches/load-10m-csv.ts';
import { bench as load10mGz } from './benches/load-10m-gz.ts';
import { bench as load10mGzReplicated } from './benches/load-10m-gz-replicated.ts';
import { bench as load10mGzSuppressed } from './benches/load-10m-gz-suppressed.ts';
import { bench as manyAudiences } from './benches/many-audiences.ts';
import { bench as matchedDevices } from './benches/matched-devices.ts';
import { bench as memory } from './benches/memory.ts';
import { bench as nodeWay } from './benches/node-way.ts';
import { bench as overlap } from './benches/overlap.ts';
import { bench as postgresWay } from './benches/postgres-way.ts';
import { bench as published10mGz } from './benches/published-10m-gz.ts';
import { bench as reportReads } from './benches/report-reads.ts';
import { bench as rowSecurity } from './benches/row-security.ts';
import { bench as smallFiles } from './benches/small-files.ts';
import { bench as twoShards } from './benches/two-shards.ts';
import { bench as workerCpu } from './benches/worker-cpu.ts';
import { summarize, type Bench } from './bench.ts';
import { recordOf, writeResult } from './results.ts';
import { isFullSize } from './scale.ts';

// npm run bench -- <name>: runs one benchmark against the servers of `npm run stack:up` and records the result.

const benches: ReadonlyMap<string, Bench> = new Map([
  ['append-to-50m', appendTo50m],
  ['clear', clear],
  ['composition', composition],
  ['composition-large', compositionLarge],
  ['erase', erase],
  ['fold', fold],
  ['front-door-import', frontDoorImport],
  ['front-door-read', frontDoorRead],
  ['get-object', getObject],
  ['growth', growth],
  ['import-10m-5col', import10m5col],
  ['latency', latency],
  ['load-10m-csv', load10mCsv],
  ['load-10m-gz', load10mGz],
  ['load-10m-gz-replicated', load10mGzReplicated],
  ['load-10m-gz-suppressed', load10mGzSuppressed],
  ['many-audiences', manyAudiences],
  ['matched-devices', matchedDevices],
  ['memory', memory],
  ['node-way', nodeWay],
  ['overlap', overlap],
  ['postgres-way', postgresWay],
  ['published-10m-gz', published10mGz],
  ['report-reads', reportReads],
  ['row-security', rowSecurity],
  ['small-files', smallFiles],
  ['two-shards', twoShards],
  ['worker-cpu', workerCpu],
]);

const printLine = (text: string): void => void process.stderr.write(`${text}\n`);
const git = (...parameters: string[]): string => execFileSync('git', parameters, { encoding: 'utf8' }).trim();

const [name = ''] = process.argv.slice(2);
const bench = benches.get(name);
if (!bench) {
  printLine(
    ['usage: npm run bench -- <name>', ...Array.from(benches, ([known, { title }]) => `  ${known}: ${title}`)].join(
      '\n',
    ),
  );
  process.exit(1);
}
const commit =
  git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'src', 'migrations') === '' ? '' : '+');
const outcome = await bench.run(printLine);
const { rows, notes = [], series = [] } = outcome;
const result = { bench: name, ...summarize(bench, outcome), rows, commit };
for (const note of notes) printLine(note);
if (isFullSize) writeResult(bench, result, { notes, series });
process.stdout.write(`${JSON.stringify(recordOf(bench, result))}\n`);
