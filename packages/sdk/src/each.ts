import { fail, succeed, type Answered, type Result } from './result.ts';

/** The options of a list for one of its pages. */
export type Page = { readonly query: Readonly<Record<string, string>> };

/**
 * Every entry of a list, page after page; the next page is asked for when the entries before are used up. After a
 * problem it ends. Where the api names no next page, the first is all.
 *
 *     for await (const audience of each((page) => inlet.listAudiences(page))) …
 */
export async function* each<T>(
  list: (page: Page) => Promise<Answered<readonly T[]>>,
): AsyncGenerator<Result<T>, void, undefined> {
  for (let query: Page['query'] | null = {}; query !== null;) {
    const answered: Answered<readonly T[]> = await list({ query });
    if (!answered.ok) {
      yield answered;
      return;
    }
    for (const entry of answered.value) yield succeed(entry);
    const { next } = answered.answer;
    if (next !== null && JSON.stringify(next) === JSON.stringify(query)) {
      yield fail('invalid_argument', 'The same page came again: `page` must be passed on to the list.');
      return;
    }
    query = next;
  }
}
