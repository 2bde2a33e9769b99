import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Bench, Series, Summary } from './bench.ts';

const page = new URL('RESULTS.md', import.meta.url);
const data = new URL('results.json', import.meta.url);
const heading = `# Results

This page is written by \`npm run bench -- <name>\`. A new run of a benchmark replaces its previous result on this page.
All runs are kept in \`results.json\`. In each run, Inlet and a yardstick are measured alternately, in pairs. A ratio is the
median of these pairs, followed by the minimum and the maximum. You can compare ratios between machines, but not seconds.
A \`+\` after a commit means that there were uncommitted changes.
`;

export type Result = Summary & {
  readonly bench: string;
  readonly rows: number;
  readonly commit: string;
};

type Details = { readonly notes: readonly string[]; readonly series: readonly Series[] };

/** Returns the result as one flat record, which is printed at the end of the run and stored. */
export function recordOf(bench: Bench, { inlet, yardstick, ...result }: Result): Record<string, unknown> {
  const unit = bench.unit ?? 'seconds';
  return { ...result, [`inlet_${unit}`]: inlet, [`yardstick_${unit}`]: yardstick };
}

export function writeResult(bench: Bench, result: Result, details: Details): void {
  const date = new Date().toISOString().slice(0, 10);
  const sections = existsSync(page)
    ? readFileSync(page, 'utf8')
        .split(/^(?=## )/m)
        .slice(1)
    : [];
  const others = sections.filter((section) => !section.startsWith(`## ${result.bench}\n`));
  const all = [...others.map((section) => section.trimEnd() + '\n'), sectionOf(bench, result, details.notes, date)];
  writeFileSync(page, [heading, ...all.toSorted()].join('\n'));
  const { notes, series } = details;
  const record = { ...recordOf(bench, result), date, notes, ...(series.length > 0 ? { series } : {}) };
  // Writes one result per line, so that a diff shows only the new result.
  const before = existsSync(data) ? readFileSync(data, 'utf8').replace(/\n\]\n$/, ',') : '[';
  writeFileSync(data, `${before}\n${JSON.stringify(record)}\n]\n`);
}

function sectionOf(bench: Bench, result: Result, notes: readonly string[], date: string): string {
  const [min, max] = result.spread;
  const unit = bench.unit === 'mebibytes' ? 'MiB' : 's';
  const outcome = result.reached === true ? 'reached' : 'not reached';
  const goal = result.goal === null ? 'no goal' : `goal: ${result.goal}, ${outcome}`;
  return [
    `## ${result.bench}\n`,
    `${bench.title}. ${bench.compares}\n`,
    `- ratio **${result.ratio}** (${min} to ${max}); ${goal}`,
    `- inlet ${result.inlet} ${unit}, yardstick ${result.yardstick} ${unit}, ${result.rows.toLocaleString('en')} rows`,
    ...notes.map((note) => `- ${note}`),
    `- ${date}, commit ${result.commit}\n`,
  ].join('\n');
}

const point = z.object({ x: z.number(), y: z.number() });
const storedSchema = z.looseObject({
  bench: z.string(),
  rows: z.number(),
  yardstick_seconds: z.number().optional(),
  series: z.array(z.object({ name: z.string(), points: z.array(point) })).optional(),
});

/** All stored results, oldest first. */
export function readResults(): z.infer<typeof storedSchema>[] {
  return existsSync(data) ? z.array(storedSchema).parse(JSON.parse(readFileSync(data, 'utf8'))) : [];
}
