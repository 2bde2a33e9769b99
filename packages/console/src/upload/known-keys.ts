import { keysInFiles } from '@inlet/row-rule/row-rule';
import { api } from '../api.ts';
import type { CheckRules } from './check-file.ts';

const pageSize = 500;
/** More attributes take too long to load. The check then covers only the format of the keys. */
const maxPages = 20;

/** Returns the partner's keys as they occur in files, or null if there are too many or they cannot be read. */
export async function loadKeys(keyType: 0 | 1, signal: AbortSignal): Promise<CheckRules['keys']> {
  const pairs: (readonly [key: string, isRetired: boolean])[] = [];
  let query: Readonly<Record<string, string>> | null = {};
  for (let page = 0; query !== null; page += 1) {
    if (page === maxPages) return null;
    const result: Awaited<ReturnType<typeof api.listAttributes>> = await api.listAttributes({
      query: { limit: pageSize, ...query },
      signal,
    });
    if (!result.ok) return null;
    for (const { attribute_id, foreign_keys, retired } of result.value) {
      const keys = keyType === 0 ? [String(attribute_id)] : foreign_keys;
      pairs.push(...keys.map((key) => [key, retired] as const));
    }
    query = result.answer.next;
  }
  // A key that is in use takes precedence over the same key of a retired attribute.
  const found = [...keysInFiles(pairs.toSorted(([, one], [, other]) => Number(one) - Number(other)))];
  return {
    used: found.flatMap(([key, isRetired]) => (isRetired ? [] : [key])),
    retired: found.flatMap(([key, isRetired]) => (isRetired ? [key] : [])),
  };
}
