import { keyType, type KeyType } from './import-log.ts';

export type Attribute = {
  readonly id: number;
  readonly name: string;
  readonly foreignKeys: readonly string[];
};

/** What stands in the keys column of a file, and the attribute that it means for this partner. */
export type ResolvedKey = { readonly key: string; readonly attributeId: number };

export function resolveKeys(attributes: readonly Attribute[], type: KeyType): ResolvedKey[] {
  return type === keyType.attributeId
    ? attributes.map(({ id }) => ({ key: String(id), attributeId: id }))
    : attributes.flatMap(({ id, foreignKeys }) => foreignKeys.map((key) => ({ key, attributeId: id })));
}
