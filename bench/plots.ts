import { mkdirSync, writeFileSync } from 'node:fs';
import { readResults } from './results.ts';
import { drawChart, type Chart } from './svg.ts';

// npm run bench:plots: draws the charts in the documentation from results.json.

const folder = new URL('../docs/images/', import.meta.url);
const results = readResults();
const printLine = (text: string): void => void process.stderr.write(`${text}\n`);

type Kept = ReturnType<typeof readResults>[number];

function latest(bench: string): Kept | undefined {
  return results.findLast((result) => result.bench === bench);
}

function rowsPerSecond(growth: Kept): Chart {
  const load = latest('load-10m-gz');
  const bare = load?.yardstick_seconds === undefined ? undefined : load.rows / load.yardstick_seconds;
  const millions = (value: number): string => `${Math.round(value / 10_000) / 100}M`;
  return {
    title: 'Rows per second of one gzipped file, from the request to status 2',
    x: { label: 'rows in the file', ticks: [1e6, 1e7, 5e7, 1e8], isLogarithmic: true },
    y: { label: 'rows per second' },
    format: { x: millions, y: millions },
    series: growth.series ?? [],
    ...(bare === undefined ? {} : { level: { name: 'bare ClickHouse, 10M rows', y: bare } }),
  };
}

function latencyUnderLoad({ series = [] }: Kept): Chart {
  const count = series[0]?.points.length ?? 1;
  return {
    title: 'Time until an audience of 1,000 rows is ready, sorted',
    x: {
      label: 'share of audiences ready',
      ticks: [0, 0.25, 0.5, 0.75, 1].map((n) => n * count),
    },
    y: { label: 'seconds' },
    format: {
      x: (value) => `${Math.round((value / count) * 100)} %`,
      y: (value) => String(Math.round(value * 100) / 100),
    },
    series,
  };
}

mkdirSync(folder, { recursive: true });
for (const [name, bench, chartOf] of [
  ['rows-per-second.svg', 'growth', rowsPerSecond],
  ['latency-under-load.svg', 'latency', latencyUnderLoad],
] as const) {
  const result = latest(bench);
  if (!result) {
    printLine(`There is no result for ${bench} yet. Run "npm run bench -- ${bench}".`);
    process.exitCode = 1;
    continue;
  }
  writeFileSync(new URL(name, folder), drawChart(chartOf(result)));
  printLine(`docs/images/${name}`);
}
