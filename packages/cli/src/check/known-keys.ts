import type { LineContext } from '@inlet/row-rule/validate-row';
import { canBeAttributeId, canBeForeignKey } from '@inlet/row-rule/row-rule';
import type { Inlet } from '@inlet/sdk';
import { readFile } from 'node:fs/promises';
import { allAttributes } from '../connect.ts';
import { pathFailure } from '../failures/path-errors.ts';

/** The keys that are valid in a file. */
type KnownKeys = LineContext['attributeIdByKey'];

type KeyType = 0 | 1;

/** Accepts every well-formed key, for checks without a list of the partner's keys. */
export function keysByForm(type: KeyType): KnownKeys {
  const has = type === 0 ? canBeAttributeId : canBeForeignKey;
  return { has, get: () => 0 };
}

/** Reads one key per line. */
export async function keysInFile(path: string): Promise<KnownKeys> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw pathFailure(path, 'read', error);
  });
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  return keysOf(lines.filter((line) => line !== ''));
}

/** Returns the keys that an import accepts. Keys of retired attributes are excluded. */
export async function keysOfPartner(inlet: Inlet, type: KeyType): Promise<KnownKeys> {
  const taken = (await allAttributes(inlet)).filter(({ retired }) => !retired);
  return keysOf(taken.flatMap((attribute) => (type === 0 ? [String(attribute.attribute_id)] : attribute.foreign_keys)));
}

function keysOf(keys: readonly string[]): ReadonlyMap<string, number> {
  return new Map(keys.map((key, index) => [key, index + 1]));
}
