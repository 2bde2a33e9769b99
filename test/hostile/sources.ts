import { readFileSync } from 'node:fs';
import { z } from 'zod';

const kinds = ['source', 'bucket', 'region', 'path', 'address', 'redirect', 'role'] as const;
const verdicts = ['refused', 'taken', 'closed', 'ignored'] as const;

type Kind = (typeof kinds)[number];
type Verdict = (typeof verdicts)[number];
export type HostileSource = {
  readonly kind: Kind;
  readonly verdict: Verdict;
  readonly value: string;
  readonly reason: string;
};

const line = /^(?<kind>\w+) (?<verdict>\w+) (?<value>"(?:[^"\\]|\\.)*") (?<reason>[A-Z0-9].*[.?])$/u;
const schema = z.object({
  kind: z.enum(kinds),
  verdict: z.enum(verdicts),
  value: z.string().transform((text) => z.string().parse(JSON.parse(text))),
  reason: z.string(),
});

/** The entries of sources.txt, which says what they are. */
export const hostileSources: readonly HostileSource[] = readFileSync(new URL('sources.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((text) => text !== '' && !text.startsWith('#'))
  .map((text) => {
    const found = line.exec(text);
    if (!found) throw new Error(`not an entry of sources.txt: ${text}`);
    return schema.parse(found.groups);
  });

export function hostile(kind: Kind, verdict: Verdict): readonly HostileSource[] {
  return hostileSources.filter((entry) => entry.kind === kind && entry.verdict === verdict);
}
