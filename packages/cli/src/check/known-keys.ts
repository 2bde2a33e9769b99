import type { LineContext } from '@inlet/row-rule/validate-row';
import { canBeAttributeId, canBeForeignKey } from '@inlet/row-rule/row-rule';
import type { Inlet } from '@inlet/sdk';
import { readFile } from 'node:fs/promises';
import { allAttributes } from '../connect.ts';
import { pathFailure } from '../failures/path-errors.ts';

/** What the keys of a file are compared with. */
type KnownKeys = LineContext['attributeIdByKey'];

type KeyType = 0 | 1;

/** Nobody knows the keys: only what can be none is refused. */
export function keysByForm(type: KeyType): KnownKeys {
  const has = type === 0 ? canBeAttributeId : canBeForeignKey;
  return { has, get: () => 0 };
}

/** One key in each line of a file. */
export async function keysInFile(path: string): Promise<KnownKeys> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw pathFailure(path, 'read', error);
  });
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  return keysOf(lines.filter((line) => line !== ''));
}

/** As an import would have them: attributes that take no imports are unknown. */
export async function keysOfPartner(inlet: Inlet, type: KeyType): Promise<KnownKeys> {
  const taken = (await allAttributes(inlet)).filter(({ retired }) => !retired);
  return keysOf(taken.flatMap((attribute) => (type === 0 ? [String(attribute.attribute_id)] : attribute.foreign_keys)));
}

function keysOf(keys: readonly string[]): ReadonlyMap<string, number> {
  return new Map(keys.map((key, index) => [key, index + 1]));
}
