/**
 * The query of the next page, from `Link: <…?limit=50&cursor=117>; rel="next"` (RFC 8288). Only the query is taken: the
 * address stays the one that was given, so that the key is sent nowhere else.
 */
export function readNext(header: string | null): Readonly<Record<string, string>> | null {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[^,;]+)*)/g)) {
    if (!/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(parameters)) continue;
    const query = target.split('#')[0]?.split('?')[1];
    if (query !== undefined && query !== '') return Object.fromEntries(new URLSearchParams(query));
  }
  return null;
}
