import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InletSettings } from '../../packages/sdk/src/inlet.ts';

export type Example = {
  /** The heading above the example. */
  readonly title: string;
  readonly code: string;
  /** The documented output. */
  readonly prints: readonly string[];
};

const readme = new URL('../../packages/sdk/README.md', import.meta.url);

/**
 * The examples in the SDK's README, each as a complete program. The first example creates the client for the others.
 */
export function readExamples(text: string = readFileSync(readme, 'utf8')): Example[] {
  const blocks = text.split(/^## /m).flatMap((section) => {
    const title = section.split('\n')[0] ?? '';
    return [...section.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => ({ title, code }));
  });
  const [setup, ...rest] = blocks;
  return rest.map(({ title, code }) => ({
    title,
    code: `${setup?.code}\n${code}`,
    prints: [...code.matchAll(/^\/\/ → (.*)$/gm)].map(([, line = '']) => line),
  }));
}

/** Input for the examples: a partner's settings, and files with rows for its attributes sports, travel, and music. */
export async function writeExampleFiles(folder: string, settings: InletSettings): Promise<void> {
  await writeFile(join(folder, 'inlet.json'), JSON.stringify(settings), { mode: 0o600 });
  await mkdir(join(folder, 'monday'), { recursive: true });
  const row = (n: number): string => `${idOf(n)},${['sports', 'travel', 'music'][n % 3]}`;
  const rows = (from: number, count: number): string[] => Array.from({ length: count }, (_, n) => row(from + n));
  const bad = [
    row(300),
    'not-an-id,sports',
    `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)},sports`,
    `${idOf(0)},golf`,
  ];
  const files = { '1.csv': rows(0, 150), '2.csv': rows(150, 150), '3.csv': [...bad, row(301)] };
  for (const [name, lines] of Object.entries(files)) await writeFile(join(folder, 'monday', name), lines.join('\n'));
  const members = Array.from({ length: 100 }, (_, n) => `${idOf(n)},click`);
  await writeFile(join(folder, 'winter.csv'), members.join('\n'));
}

function idOf(n: number): string {
  return `5d000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/** Runs an example as a partner would, in plain JavaScript without types. */
export async function runExample(folder: string, program: string, { code }: Example): Promise<string> {
  const file = join(folder, `example-${process.pid}.mjs`);
  await writeFile(file, code);
  return new Promise((resolve, reject) => {
    execFile(
      program,
      [file],
      { cwd: folder, timeout: 120_000, env: { PATH: '/usr/bin:/bin' } },
      (error, out, errors) => {
        if (error) reject(new Error(`${program} exited with ${error.code}:\n${out}${errors}`));
        else resolve(out);
      },
    );
  });
}
