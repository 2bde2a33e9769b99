import { fail, succeed, type Answered, type Result } from './result.ts';

/** List options for one page. */
export type Page = { readonly query: Readonly<Record<string, string>> };

/**
 * Yields all entries of a list and requests each page when it is needed. Stops after a problem.
 *
 *     for await (const audience of each((page) => inlet.listAudiences(page))) …
 */
export async function* each<T>(
  list: (page: Page) => Promise<Answered<readonly T[]>>,
): AsyncGenerator<Result<T>, void, undefined> {
  for (let query: Page['query'] | null = {}; query !== null;) {
    const result: Answered<readonly T[]> = await list({ query });
    if (!result.ok) {
      yield result;
      return;
    }
    for (const entry of result.value) yield succeed(entry);
    const { next } = result.answer;
    if (next !== null && JSON.stringify(next) === JSON.stringify(query)) {
      yield fail('invalid_argument', 'The list returned the same page twice. Pass `page` to the list call.');
      return;
    }
    query = next;
  }
}
