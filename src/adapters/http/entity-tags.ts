// RFC 9110, sections 8.8.3 and 13.1.2. All tags are weak, because they compare the content of responses, not their
// bytes.

export function entityTag(opaque: string): string {
  return `W/"${opaque}"`;
}

/** The tags in an `If-None-Match` header, without `W/` and quotes. */
export type NamedTags = 'any' | ReadonlySet<string>;

/** No quantifier can match the characters that follow it, so matching takes linear time. */
const element = /[ \t]*(?:(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;

/** Null if the header is absent or malformed. */
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
