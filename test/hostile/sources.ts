import { readFileSync } from 'node:fs';
import { z } from 'zod';

const kinds = ['source', 'bucket', 'region', 'path', 'address', 'redirect', 'role'] as const;
const outcomes = ['rejected', 'accepted', 'blocked', 'ignored'] as const;

type Kind = (typeof kinds)[number];
type Outcome = (typeof outcomes)[number];
export type HostileSource = {
  readonly kind: Kind;
  readonly outcome: Outcome;
  readonly value: string;
  readonly reason: string;
};

const line = /^(?<kind>\w+) (?<outcome>\w+) (?<value>"(?:[^"\\]|\\.)*") (?<reason>[A-Z0-9].*[.?])$/u;
const schema = z.object({
  kind: z.enum(kinds),
  outcome: z.enum(outcomes),
  value: z.string().transform((text) => z.string().parse(JSON.parse(text))),
  reason: z.string(),
});

/** The entries of sources.txt. Its header describes the format. */
export const hostileSources: readonly HostileSource[] = readFileSync(new URL('sources.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((text) => text !== '' && !text.startsWith('#'))
  .map((text) => {
    const found = line.exec(text);
    if (!found) throw new Error(`invalid entry in sources.txt: ${text}`);
    return schema.parse(found.groups);
  });

export function hostile(kind: Kind, outcome: Outcome): readonly HostileSource[] {
  return hostileSources.filter((entry) => entry.kind === kind && entry.outcome === outcome);
}
