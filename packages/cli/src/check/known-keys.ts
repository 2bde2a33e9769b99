import type { KeyLookup } from '@inlet/row-rule/validate-row';
import { canBeAttributeId, canBeForeignKey, keysInFiles } from '@inlet/row-rule/row-rule';
import type { Inlet } from '@inlet/sdk';
import { readFile } from 'node:fs/promises';
import { allAttributes } from '../connect.ts';
import { pathFailure } from '../failures/path-errors.ts';

type KeyType = 0 | 1;

/** Accepts every well-formed key, for checks without a list of the partner's keys. */
export function keysByForm(type: KeyType): KeyLookup {
  const has = type === 0 ? canBeAttributeId : canBeForeignKey;
  return { has, get: () => 0 };
}

/** Reads one key per line. */
export async function keysInFile(path: string): Promise<KeyLookup> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw pathFailure(path, 'read', error);
  });
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  return keysOf(lines.filter((line) => line !== ''));
}

/** Returns the keys that an import accepts, and the keys of retired attributes. */
export async function keysOfPartner(inlet: Inlet, type: KeyType): Promise<KeyLookup> {
  const attributes = await allAttributes(inlet);
  const found = keysInFiles(
    [false, true].flatMap((isRetired) =>
      attributes
        .filter(({ retired }) => retired === isRetired)
        .flatMap((attribute) => (type === 0 ? [String(attribute.attribute_id)] : attribute.foreign_keys))
        .map((key) => [key, isRetired] as const),
    ),
  );
  const keysWhere = (isRetired: boolean): string[] =>
    [...found].flatMap(([key, retired]) => (retired === isRetired ? [key] : []));
  return keysOf(keysWhere(false), new Set(keysWhere(true)));
}

function keysOf(keys: readonly string[], retired: ReadonlySet<string> = new Set()): KeyLookup {
  const known = new Map(keys.map((key, index) => [key, index + 1]));
  return { has: (key) => known.has(key), get: (key) => known.get(key), isRetired: (key) => retired.has(key) };
}
