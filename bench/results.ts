import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Bench, Summary } from './bench.ts';

const file = new URL('RESULTS.md', import.meta.url);
const heading = `# Results

Written by \`npm run bench -- <name>\`; a newer run of the same benchmark replaces the older one. Ratios are medians of pairs
that ran alternately in one run, with the smallest and the largest; they can be compared between machines, seconds cannot.
A commit with a \`+\` had changes that were not committed.
`;

type Result = Summary & {
  readonly bench: string;
  readonly rows: number;
  readonly commit: string;
  readonly notes: readonly string[];
};

export function writeResult(bench: Bench, result: Result): void {
  const sections = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split(/^(?=## )/m)
        .slice(1)
    : [];
  const others = sections.filter((section) => !section.startsWith(`## ${result.bench}\n`));
  const [least, most] = result.spread;
  const lines = [
    `## ${result.bench}\n`,
    `${bench.title}. ${bench.compares}\n`,
    `- ratio **${result.ratio}** (${least} to ${most}); goal: ${bench.goal}`,
    `- inlet ${result.inlet_seconds} s, yardstick ${result.yardstick_seconds} s, ${result.rows.toLocaleString('en')} rows`,
    ...result.notes.map((note) => `- ${note}`),
    `- ${new Date().toISOString().slice(0, 10)}, commit ${result.commit}\n`,
  ];
  const all = [...others.map((section) => section.trimEnd() + '\n'), lines.join('\n')].toSorted();
  writeFileSync(file, [heading, ...all].join('\n'));
}
