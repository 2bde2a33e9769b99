import { defaultFileLimits, type FileLimits } from '@inlet/row-rule/file-limits';
import { badRowShares, isCalledGzip } from '@inlet/row-rule/file-rule';
import { audienceShapes, marketplaceShapes } from '@inlet/row-rule/row-layout';
import type { Inlet } from '@inlet/sdk';
import type { CommonOptions } from '../command.ts';
import { readKeyType, type KeyTypeOptions } from '../commands/key-type.ts';
import { connect } from '../connect.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { valueOf } from '../failures/value-of.ts';
import { harmless } from '../terminal/harmless.ts';
import { several } from '../terminal/numbers.ts';
import type { Output } from '../terminal/output.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { localFiles, type LocalFile } from '../upload/local-files.ts';
import { checkFile, type CheckedFile, type CheckRules } from './check-file.ts';
import { keysByForm, keysInFile, keysOfPartner, type KnownKeys } from './known-keys.ts';
import { checkedJson, checkedText, isGood } from './say-checked.ts';

export type CheckOptions = CommonOptions &
  KeyTypeOptions & {
    readonly audience?: true;
    readonly compressed?: boolean;
    readonly keys?: string;
    readonly attributes?: true;
    readonly badRows: number;
  };

/** Judges the files and says so; whether all would be taken whole. */
export async function runCheck(paths: readonly string[], options: CheckOptions, output: Output): Promise<boolean> {
  const [rules, known] = await readRules(options);
  const files = await localFiles(paths, output.note);
  const checked = await checkAll(files, rules, output);
  sayAll(checked, known, options.audience === true, output);
  return checked.every(isGood);
}

async function readRules(options: CheckOptions): Promise<[CheckRules, KnownKeys]> {
  const isAudience = options.audience === true;
  if (isAudience && (options.keys !== undefined || options.attributes || options.keyType !== undefined)) {
    throw wrongUse('The rows of an audience have no keys.', 'Leave out --keys, --attributes and --key-type.');
  }
  const inlet = options.attributes ? await connect(options) : null;
  const known = await readKeys(options, inlet);
  const byName = (path: string): boolean | null => (isCalledGzip(path) ? true : isAudience ? null : false);
  const rules = {
    shapes: isAudience ? audienceShapes : marketplaceShapes,
    limits: inlet ? await readLimits(inlet) : defaultFileLimits,
    badRowShare: badRowShares[isAudience ? 'audience' : 'marketplace'],
    keys: known.keys,
    expectGzip: (path: string) => options.compressed ?? byName(path),
    shownRows: options.badRows,
  };
  return [rules, known];
}

async function readKeys(options: CheckOptions, inlet: Inlet | null): Promise<KnownKeys> {
  if (options.keys !== undefined && inlet) throw wrongUse('Keys come from one place.', 'Give --keys or --attributes.');
  if (options.keys !== undefined) return keysInFile(options.keys);
  if (inlet) return keysOfPartner(inlet, await readKeyType(options));
  return keysByForm(options.keyType === undefined ? 1 : await readKeyType(options));
}

async function readLimits(inlet: Inlet): Promise<FileLimits> {
  const limits = valueOf(await inlet.getLimits());
  return {
    maxLineBytes: limits.line_bytes,
    maxGzipFileBytes: limits.gzip_file_bytes,
    maxPlainFileBytes: limits.plain_file_bytes,
  };
}

async function checkAll(files: readonly LocalFile[], rules: CheckRules, output: Output): Promise<CheckedFile[]> {
  const bar = progressBar(output);
  const checked: CheckedFile[] = [];
  try {
    for (const { path } of files) {
      let done = 0;
      checked.push(
        await checkFile(path, rules, (bytes, total) => {
          done += bytes;
          bar.show({ what: harmless(path), done, total });
        }),
      );
    }
  } finally {
    bar.end();
  }
  return checked;
}

const aboutKeys = {
  form: 'Keys were judged by their form only: --attributes takes yours from Inlet, --keys a list.',
  list: null,
  attributes: null,
} as const;

function sayAll(checked: readonly CheckedFile[], known: KnownKeys, isAudience: boolean, output: Output): void {
  const ok = checked.every(isGood);
  const value = { ok, keys_checked: isAudience ? null : known.how, files: checked.map(checkedJson) };
  output.result(value, () => {
    const bad = checked.filter((file) => !isGood(file)).length;
    const sum = `${several(checked.length, 'file')}, ${bad === 0 ? 'all good' : `${bad} not good`}`;
    return [...checked.map((file) => `${checkedText(file, output.stdout)}\n`), ...(checked.length > 1 ? [sum] : [])]
      .join('\n')
      .trimEnd();
  });
  const hint = isAudience ? null : aboutKeys[known.how];
  if (hint !== null) output.note(hint);
}
