import { canBeForeignKey, keysInFiles } from '@inlet/row-rule/row-rule';
import { Failure } from './failure.ts';
import { type KeyType, keyType } from './import-log.ts';

export type Attribute = {
  readonly id: number;
  readonly name: string;
  readonly foreignKeys: readonly string[];
  readonly isRetired: boolean;
};

/** A value in a file's keys column and the ID of the attribute that it refers to. */
export type ResolvedKey = { readonly key: string; readonly attributeId: number };

export function resolveKeys(attributes: readonly Attribute[], type: KeyType): ResolvedKey[] {
  return type === keyType.attributeId
    ? attributes.map(({ id }) => ({ key: String(id), attributeId: id }))
    : attributes.flatMap(({ id, foreignKeys }) => foreignKeys.map((key) => ({ key, attributeId: id })));
}

/** The attribute ID that `importKeys` returns for keys of retired attributes. */
const retiredAttribute = 0;

/** Returns the keys that can occur in the files of an import. Rows with a key of a retired attribute are rejected. */
export function importKeys(attributes: readonly Attribute[], type: KeyType): ResolvedKey[] {
  const active = resolveKeys(
    attributes.filter(({ isRetired }) => !isRetired),
    type,
  );
  const retired = resolveKeys(
    attributes.filter(({ isRetired }) => isRetired),
    type,
  );
  const keys = keysInFiles([
    ...active.map(({ key, attributeId }) => [key, attributeId] as const),
    ...retired.map(({ key }) => [key, retiredAttribute] as const),
  ]);
  return Array.from(keys, ([key, attributeId]) => ({ key, attributeId }));
}

/** Resolves the keys of a request. Fails if any key is unknown. */
export function attributesOfKeys(keys: readonly string[], resolved: readonly ResolvedKey[]): number[] {
  const byKey = new Map(resolved.map(({ key, attributeId }) => [key, attributeId]));
  const unknown = keys.flatMap((key, index) => (byKey.has(key) ? [] : [index]));
  if (unknown.length > 0) {
    const fields = unknown.map((index) => ({
      pointer: `/keys/${index}`,
      detail: `Unknown key "${keys[index] ?? ''}".`,
    }));
    throw new Failure(
      'unknown_keys',
      `${unknown.length} of ${keys.length} keys ${unknown.length === 1 ? 'is' : 'are'} unknown.`,
      { fields },
    );
  }
  return [...new Set(keys.flatMap((key) => byKey.get(key) ?? []))];
}

/** Foreign keys appear in files, so they must not contain the separator or control characters. */
export function requireForeignKeys(keys: readonly string[]): void {
  const wrong = keys.find((key) => !canBeForeignKey(key));
  if (wrong === undefined) return;
  throw new Failure(
    'invalid_request',
    `"${wrong}" is not a valid foreign key. Use 1 to 200 characters, without "|", control characters, or spaces at the ends.`,
  );
}
