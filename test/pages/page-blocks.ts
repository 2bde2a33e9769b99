/** The way in which the tests cover a block of commands. */
type Mark =
  /** The test that follows the page runs the block. */
  | { readonly is: 'followed' }
  /** The block contains settings that the reader received. The test substitutes its own values. */
  | { readonly is: 'given' }
  /** The block runs until it is stopped. The next block starts when the output contains this text. */
  | { readonly is: 'goes on until'; readonly what: string }
  /** The same lines are on another page, which a test follows. */
  | { readonly is: 'as in'; readonly what: string }
  /** Another test runs the block. */
  | { readonly is: 'run by'; readonly what: string }
  /** The block is not run, for this reason. */
  | { readonly is: 'not run'; readonly what: string };

export type Block = {
  readonly line: number;
  readonly language: string;
  /**
   * Whether the block shows the output of the previous commands. Such a block is marked by `json result` after the
   * fence.
   */
  readonly isResult: boolean;
  readonly mark: Mark;
  readonly text: string;
};

const fence = /^( *)```(\S*)[ ]?(.*)$/;
const markForm = /^ *<!-- (given|(?:goes on until|as in|run by|not run)(?=: )):? ?(.*?) -->$/;

/** Returns all fenced blocks of a page. A mark is a comment before the block, optionally followed by an empty line. */
export function blocksOf(page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const open = fence.exec(lines[at] ?? '');
    if (!open) continue;
    const [, indent = '', language = '', attribute] = open;
    const end = lines.findIndex((line, index) => index > at && line === `${indent}\`\`\``);
    if (end === -1) throw new Error(`the block in line ${at + 1} is not closed`);
    const text = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    blocks.push({
      line: at + 1,
      language,
      isResult: attribute === 'result',
      mark: markBefore(lines, at),
      text: text.join('\n'),
    });
    at = end;
  }
  return blocks;
}

function markBefore(lines: readonly string[], at: number): Mark {
  const before = lines[at - 1] === '' ? lines[at - 2] : lines[at - 1];
  const [, is, what = ''] = markForm.exec(before ?? '') ?? [];
  if (is === 'given') return { is };
  return is === 'goes on until' || is === 'as in' || is === 'run by' || is === 'not run'
    ? { is, what }
    : { is: 'followed' };
}

const commandLanguages = new Set(['sh', 'sql', 'ts']);
const outputLanguages = new Set(['', 'text', 'json', 'csv', 'xml', 'yaml']);

/**
 * Returns one line per problem with the blocks of a page. `isFollowed` returns whether a test follows the whole page.
 */
export function blockFaults(
  path: string,
  page: string,
  {
    isFollowed,
    exists,
    read,
  }: { isFollowed: (path: string) => boolean; exists: (path: string) => boolean; read: (path: string) => string },
): string[] {
  return blocksOf(page).flatMap((block) => {
    const fault = faultOf(block);
    return fault === null ? [] : [`${path}:${block.line}: ${fault}`];
  });

  function faultOf({ language, isResult, mark, text }: Block): string | null {
    if (outputLanguages.has(language)) {
      if (isResult) return isFollowed(path) ? null : 'shows a result, but no test follows this page';
      return /^(\$|curl|inlet|npm|npx|node) /m.test(text) ? 'contains commands: use the language sh' : null;
    }
    if (!commandLanguages.has(language)) return `unknown language: ${language}`;
    switch (mark.is) {
      case 'followed':
      case 'given':
      case 'goes on until':
        return isFollowed(path) ? null : 'is neither run nor marked as not run';
      case 'run by':
        return exists(mark.what) ? null : `names ${mark.what}, which does not exist`;
      case 'as in':
        if (!isFollowed(mark.what)) return `refers to ${mark.what}, which no test follows`;
        return linesMissing(text, read(mark.what));
      case 'not run':
        return mark.what === '' ? 'is not run without a reason' : null;
    }
  }
}

/** Reports the first line that the page does not run or runs in a different order. */
function linesMissing(text: string, page: string): string | null {
  const run = blocksOf(page)
    .filter(({ mark }) => mark.is !== 'not run')
    .flatMap((block) => block.text.split('\n').map(bare));
  let at = 0;
  for (const line of text.split('\n').map(bare)) {
    if (line === '') continue;
    at = run.indexOf(line, at) + 1;
    if (at === 0) return `has a line that the other page does not run in this order: ${line}`;
  }
  return null;
}

/** Removes a trailing comment. */
function bare(line: string): string {
  return line.replace(/(^|\s+)# .*$/, '').trim();
}
