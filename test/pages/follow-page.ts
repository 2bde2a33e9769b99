import { readFileSync } from 'node:fs';
import { blocksOf, type Block } from './page-blocks.ts';
import { differenceFrom } from './shown-result.ts';
import type { Terminal } from './terminal.ts';

/** Pages that a test follows exactly. The test runs every command and compares every result. */
export const followedPages = {
  partner: [
    'docs/partners/get-started.md',
    'docs/partners/file-formats.md',
    'docs/partners/follow-an-import.md',
    'docs/partners/audiences.md',
    'docs/partners/uploads.md',
    'docs/partners/subscriptions.md',
    'docs/partners/webhooks.md',
    'docs/partners/deletions.md',
    'docs/partners/limits.md',
    'docs/partners/command-line.md',
    'docs/partners/keys-and-customers.md',
  ],
  operator: ['docs/operators/get-started.md'],
  developer: ['docs/developers/get-started.md'],
} as const;

/** Follows a page from top to bottom. Returns the number of blocks that ran and of results that were compared. */
export async function followPage(
  path: string,
  terminal: Terminal,
  given: Readonly<Record<string, string>> = {},
  rewrite: (commands: string) => string = (commands) => commands,
): Promise<{ ran: number; compared: number }> {
  let [ran, compared, printed] = [0, 0, ''];
  for (const block of blocksOf(readFileSync(path, 'utf8'))) {
    try {
      if (block.isResult) {
        const difference = differenceFrom(block, printed);
        if (difference !== null) throw new Error(difference);
        compared += 1;
      } else if (block.language === 'sh') {
        printed = (await runBlock({ ...block, text: rewrite(block.text) }, terminal, given)) ?? printed;
        ran += 1;
      }
    } catch (error) {
      throw new Error(`${path}:${block.line}: ${String(error)}`, { cause: error });
    }
  }
  return { ran, compared };
}

async function runBlock(
  { mark, text }: Block,
  terminal: Terminal,
  given: Readonly<Record<string, string>>,
): Promise<string | null> {
  switch (mark.is) {
    case 'given':
      return terminal.run(withGiven(text, given));
    case 'goes on until':
      return terminal.start(text, mark.what);
    case 'followed':
      return terminal.run(text);
    case 'as in':
    case 'run by':
    case 'not run':
      return null;
  }
}

/**
 * Replaces example values with values that work in the test. A name without a value is a bug in the test, not in the
 * page.
 */
function withGiven(text: string, given: Readonly<Record<string, string>>): string {
  return text.replaceAll(/^((?:export )?([A-Z0-9_]+))=.*$/gm, (line, before: string, name: string) => {
    const value = given[name];
    if (value === undefined) throw new Error(`no value for "${line}"`);
    return `${before}='${value}'`;
  });
}
