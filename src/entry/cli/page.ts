import type { Page } from '../../ports/partner-store.ts';
import { complain } from './output.ts';
import { toId } from './to-id.ts';

/** What an operator sees at once. */
const limit = 1_000;

export function pageAfter(thing: string, id: string | undefined): Page {
  return { afterId: id === undefined ? 0 : toId(thing, id), limit };
}

export function sayIfFull(listed: readonly { readonly id: number }[]): void {
  if (listed.length === limit) complain(`There may be more: --after ${listed.at(-1)?.id}`);
}
