import { defaultFileLimits, type FileLimits } from '@inlet/row-rule/file-limits';
import { badRowShares, isCalledGzip } from '@inlet/row-rule/file-rule';
import { audienceShapes, marketplaceShapes } from '@inlet/row-rule/row-layout';
import type { Inlet } from '@inlet/sdk';
import type { CommonOptions } from '../command.ts';
import { readKeyType, type KeyTypeOptions } from '../commands/key-type.ts';
import { connect } from '../connect.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { valueOf } from '../failures/value-of.ts';
import { several } from '../terminal/numbers.ts';
import type { Output } from '../terminal/output.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { localFiles } from '../upload/local-files.ts';
import { checkAll } from './check-all.ts';
import type { CheckedFile, CheckRules } from './check-file.ts';
import { keysByForm, keysInFile, keysOfPartner } from './known-keys.ts';
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
  const rules = await readRules(options);
  const files = await localFiles(paths, (text) => output.note(text));
  const checked = await checkAll(files, rules, progressBar(output));
  sayAll(checked, judgedBy(options), output);
  return checked.every(isGood);
}

async function readRules(options: CheckOptions): Promise<CheckRules> {
  const isAudience = options.audience === true;
  if (isAudience && (options.keys !== undefined || options.keyType !== undefined)) {
    throw wrongUse('The rows of an audience have no keys.', 'Leave out --keys and --key-type.');
  }
  if (options.keys !== undefined && options.attributes) {
    throw wrongUse('Keys come from one place.', 'Give --keys or --attributes.');
  }
  const inlet = options.attributes ? await connect(options) : null;
  const byName = (path: string): boolean | null => (isCalledGzip(path) ? true : isAudience ? null : false);
  return {
    shapes: isAudience ? audienceShapes : marketplaceShapes,
    limits: inlet ? await readLimits(inlet) : defaultFileLimits,
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

async function readLimits(inlet: Inlet): Promise<FileLimits> {
  const limits = valueOf(await inlet.getLimits());
  return {
    maxLineBytes: limits.line_bytes,
    maxGzipFileBytes: limits.gzip_file_bytes,
    maxPlainFileBytes: limits.plain_file_bytes,
  };
}

type JudgedBy = {
  /** What keys were compared with; null where there are none. */
  readonly keys: 'form' | 'list' | 'attributes' | null;
  readonly limits: 'default' | 'service';
};

function judgedBy({ audience, keys, attributes }: CheckOptions): JudgedBy {
  return {
    keys: audience ? null : keys !== undefined ? 'list' : attributes ? 'attributes' : 'form',
    limits: attributes ? 'service' : 'default',
  };
}

const hints = {
  form: 'Keys were judged by their form only, and the limits are the default ones: see --attributes, --keys.',
  list: 'The limits are the default ones: --attributes takes yours from Inlet, with your keys.',
  none: 'The limits are the default ones: --attributes takes yours from Inlet.',
} as const;

function hintOf({ keys, limits }: JudgedBy): string | null {
  return limits === 'service' || keys === 'attributes' ? null : hints[keys ?? 'none'];
}

function sayAll(checked: readonly CheckedFile[], by: JudgedBy, output: Output): void {
  const ok = checked.every(isGood);
  const value = { ok, keys_checked: by.keys, limits_checked: by.limits, files: checked.map(checkedJson) };
  output.result(value, () => {
    const bad = checked.filter((file) => !isGood(file)).length;
    const sum = `${several(checked.length, 'file')}, ${bad === 0 ? 'all good' : `${bad} not good`}`;
    return [...checked.map((file) => `${checkedText(file, output.stdout)}\n`), ...(checked.length > 1 ? [sum] : [])]
      .join('\n')
      .trimEnd();
  });
  const hint = hintOf(by);
  if (hint !== null) output.note(hint);
}
