import { type FileLimits, badRowShares, defaultFileLimits, hasGzipName } from '@inlet/row-rule/file-rule';
import { audienceShapes, marketplaceShapes } from '@inlet/row-rule/row-rule';
import type { Inlet, Limits } from '@inlet/sdk';
import { stat } from 'node:fs/promises';
import type { CommonOptions } from '../command.ts';
import { type KeyTypeOptions, readKeyType } from '../commands/arguments.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { several } from '../terminal/format.ts';
import type { Output } from '../terminal/output.ts';
import { type ProgressBar, progressBar } from '../terminal/progress-bar.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { type LocalFile, localFiles } from '../upload/local-files.ts';
import { type CheckRules, type CheckedFile, checkFile } from './check-file.ts';
import { keysByForm, keysInFile, keysOfPartner } from './known-keys.ts';
import { checkedJson, checkedText, isGood } from './report.ts';

/** Validates the files one at a time and shows a single progress bar for all of them. */
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
      const what = files.length === 1 ? escapeTerminal(path) : `${index} of ${files.length} files`;
      let read = 0;
      const onBytes = (bytes: number): void => {
        read += bytes;
        readInAll += bytes;
        const done = before + read;
        // If a file fails early, its remaining bytes are not read and must not count toward the rate.
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

/** Returns 0 for an unreadable file. The check itself reports the error. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

export type CheckOptions = CommonOptions &
  KeyTypeOptions & {
    readonly audience?: true;
    readonly compressed?: boolean;
    readonly keys?: string;
    readonly attributes?: true;
    readonly badRows: number;
  };

/** Validates the files, prints the results, and returns whether all rows are valid. */
export async function runCheck(paths: readonly string[], options: CheckOptions, output: Output): Promise<boolean> {
  const rules = await readRules(options);
  const files = await localFiles(paths, (text) => output.note(text));
  const checked = await checkAll(files, rules, progressBar(output));
  printAll(checked, checkedWith(options), output);
  return checked.every(isGood);
}

async function readRules(options: CheckOptions): Promise<CheckRules> {
  const isAudience = options.audience === true;
  if (isAudience && (options.keys !== undefined || options.keyType !== undefined)) {
    throw wrongUse('Audience rows have no keys.', 'Omit --keys and --key-type.');
  }
  if (options.keys !== undefined && options.attributes) {
    throw wrongUse('--keys and --attributes cannot be combined.', 'Pass one of them.');
  }
  const inlet = options.attributes ? await connect(options) : null;
  const limits = inlet && valueOf(await inlet.getLimits());
  const byName = (path: string): boolean | null => (hasGzipName(path) ? true : isAudience ? null : false);
  return {
    isAudience,
    shapes: isAudience ? audienceShapes : marketplaceShapes,
    limits: limits ? fileLimitsOf(limits) : defaultFileLimits,
    unhyphenatedIds: limits?.unhyphenated_ids ?? false,
    badRowShare: badRowShares[isAudience ? 'audience' : 'marketplace'],
    keys: isAudience ? keysByForm(1) : await readKeys(options, inlet),
    expectGzip: (path: string) => options.compressed ?? byName(path),
    shownRows: options.badRows,
  };
}

async function readKeys(options: CheckOptions, inlet: Inlet | null): Promise<CheckRules['keys']> {
  if (options.keys !== undefined) return keysInFile(options.keys);
  if (inlet) return keysOfPartner(inlet, await readKeyType(options));
  return keysByForm(options.keyType === undefined ? 1 : await readKeyType(options));
}

function fileLimitsOf(limits: Limits): FileLimits {
  return {
    maxLineBytes: limits.line_bytes,
    maxGzipFileBytes: limits.gzip_file_bytes,
    maxPlainFileBytes: limits.plain_file_bytes,
  };
}

type CheckedWith = {
  /** How the keys were checked. Null for audience files. */
  readonly keys: 'form' | 'list' | 'attributes' | null;
  readonly limits: 'default' | 'service';
};

function checkedWith({ audience, keys, attributes }: CheckOptions): CheckedWith {
  return {
    keys: audience ? null : keys !== undefined ? 'list' : attributes ? 'attributes' : 'form',
    limits: attributes ? 'service' : 'default',
  };
}

const hints = {
  form: 'Only the format of the keys was checked, with default limits. See --attributes and --keys.',
  list: 'Default limits were used. Pass --attributes to use your limits and keys from the service.',
  none: 'Default limits were used. Pass --attributes to use your limits from the service.',
} as const;

function hintOf({ keys, limits }: CheckedWith): string | null {
  return limits === 'service' || keys === 'attributes' ? null : hints[keys ?? 'none'];
}

function printAll(checked: readonly CheckedFile[], by: CheckedWith, output: Output): void {
  const ok = checked.every(isGood);
  const value = { ok, keys_checked: by.keys, limits_checked: by.limits, files: checked.map(checkedJson) };
  output.result(value, () => {
    const bad = checked.filter((file) => !isGood(file)).length;
    const sum = `${several(checked.length, 'file')}, ${bad === 0 ? 'all valid' : `${bad} with errors`}`;
    return [...checked.map((file) => `${checkedText(file, output.stdout)}\n`), ...(checked.length > 1 ? [sum] : [])]
      .join('\n')
      .trimEnd();
  });
  const hint = hintOf(by);
  if (hint !== null) output.note(hint);
}
