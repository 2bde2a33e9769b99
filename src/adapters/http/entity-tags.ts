// RFC 9110, 8.8.3 and 13.1.2. All of our tags are weak: an answer is compared by what it says, not by its bytes.

export function entityTag(opaque: string): string {
  return `W/"${opaque}"`;
}

/** What an `If-None-Match` names, without `W/` and quotes. */
export type NamedTags = 'any' | ReadonlySet<string>;

/** Each star stands before something that it cannot match itself, so that no text takes long. */
const element = /[ \t]*(?:(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;

/** Null when there is none. One that is no list of tags counts as none. */
export function readIfNoneMatch(header: string | undefined): NamedTags | null {
  if (header === undefined) return null;
  if (header.trim() === '*') return 'any';
  const tags = new Set<string>();
  element.lastIndex = 0;
  while (element.lastIndex < header.length) {
    const found = element.exec(header);
    if (!found) return null;
    if (found[1] !== undefined) tags.add(found[1]);
  }
  return tags.size === 0 ? null : tags;
}

export function isNamed(opaque: string, tags: NamedTags | null): boolean {
  return tags === 'any' || tags?.has(opaque) === true;
}
