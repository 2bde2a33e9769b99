import type { Audience, Problem } from '@inlet/sdk/browser';
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { api, noteExpiry } from '../api.ts';

type Known = Pick<Audience, 'name' | 'unique_devices'> | Problem;

const known = signal<ReadonlyMap<number, Known>>(new Map());

export function rememberAudience(id: number, audience: Known): void {
  known.value = new Map([...known.value, [id, audience]]);
}

/** The audiences with these IDs. Those that were not picked on this page are loaded one by one. */
export function useAudiences(ids: readonly number[]): ReadonlyMap<number, Known> {
  useEffect(() => {
    for (const id of ids) {
      const found = known.peek().get(id);
      if (!found || 'from' in found) void load(id);
    }
  }, [ids.join(',')]);
  return known.value;
}

async function load(id: number): Promise<void> {
  const result = await api.getAudience(id, { query: { include_files: 'false' } });
  if (!result.ok) noteExpiry(result.problem);
  rememberAudience(id, result.ok ? result.value : result.problem);
}

export function nameOf(id: number, audiences: ReadonlyMap<number, Known>): string {
  const found = audiences.get(id);
  return found && 'name' in found ? found.name : `Audience ${id}`;
}
