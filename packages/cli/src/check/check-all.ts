import { stat } from 'node:fs/promises';
import { harmless } from '../terminal/harmless.ts';
import type { ProgressBar } from '../terminal/progress-bar.ts';
import type { LocalFile } from '../upload/local-files.ts';
import { checkFile, type CheckedFile, type CheckRules } from './check-file.ts';

/** One file after the other, with one bar for all of them. */
export async function checkAll(
  files: readonly LocalFile[],
  rules: CheckRules,
  bar: ProgressBar,
): Promise<CheckedFile[]> {
  const sizes: number[] = [];
  for (const { path } of files) sizes.push(await sizeOf(path));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const checked: CheckedFile[] = [];
  let before = 0;
  let readInAll = 0;
  try {
    for (const [index, { path }] of files.entries()) {
      const what = files.length === 1 ? harmless(path) : `${index} of ${files.length} files`;
      let read = 0;
      const onBytes = (bytes: number): void => {
        read += bytes;
        readInAll += bytes;
        const done = before + read;
        // Of a file that fails at its beginning the rest is not read: it took no time.
        bar.show({ what, done, total, skipped: done - readInAll });
      };
      checked.push(await checkFile(path, rules, onBytes));
      before += sizes[index] ?? 0;
    }
  } finally {
    bar.end();
  }
  return checked;
}

/** A file that cannot be looked at is told when it is its turn. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
