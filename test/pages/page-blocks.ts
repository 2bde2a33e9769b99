/** How a block of a page that holds commands is accounted for. */
type Mark =
  /** It is run where its page is followed. */
  | { readonly is: 'followed' }
  /** Settings that the reader has from somebody else; whoever follows the page has values of his own. */
  | { readonly is: 'given' }
  /** It does not end by itself; what comes after it may begin when its output has this text. */
  | { readonly is: 'goes on until'; readonly what: string }
  /** The same lines stand in this page, which is followed. */
  | { readonly is: 'as in'; readonly what: string }
  /** This test runs it, in its own way. */
  | { readonly is: 'run by'; readonly what: string }
  /** Nobody runs it, for this reason. */
  | { readonly is: 'not run'; readonly what: string };

export type Block = {
  readonly line: number;
  readonly language: string;
  /** What the commands before it print: `json result` behind the fence. */
  readonly isResult: boolean;
  readonly mark: Mark;
  readonly text: string;
};

const fence = /^( *)```(\S*)[ ]?(.*)$/;
const markForm = /^ *<!-- (given|(?:goes on until|as in|run by|not run)(?=: )):? ?(.*?) -->$/;

/** All fenced blocks of a page. A mark stands in a comment on the line before the block, or before the empty line there. */
export function blocksOf(page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const open = fence.exec(lines[at] ?? '');
    if (!open) continue;
    const [, indent = '', language = '', attribute] = open;
    const end = lines.findIndex((line, index) => index > at && line === `${indent}\`\`\``);
    if (end === -1) throw new Error(`the block in line ${at + 1} has no end`);
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
const quietLanguages = new Set(['', 'text', 'json', 'csv', 'xml', 'yaml']);

/** What is wrong with the blocks of a page, one line each. `followed`: somebody follows the page from its beginning to its end. */
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
    if (quietLanguages.has(language)) {
      if (isResult) return isFollowed(path) ? null : 'shows a result, but nobody follows this page';
      return /^(\$|curl|inlet|npm|npx|node) /m.test(text) ? 'holds commands: call it sh' : null;
    }
    if (!commandLanguages.has(language)) return `nobody knows whether ${language} is to be run`;
    switch (mark.is) {
      case 'followed':
      case 'given':
      case 'goes on until':
        return isFollowed(path) ? null : 'is neither run nor marked as not run';
      case 'run by':
        return exists(mark.what) ? null : `says that ${mark.what} runs it, which is not there`;
      case 'as in':
        if (!isFollowed(mark.what)) return `is said to be as in ${mark.what}, which nobody follows`;
        return linesMissing(text, read(mark.what));
      case 'not run':
        return mark.what === '' ? 'is not run without a reason' : null;
    }
  }
}

/** The first line that the page does not run after the ones before it. */
function linesMissing(text: string, page: string): string | null {
  const run = blocksOf(page)
    .filter(({ mark }) => mark.is !== 'not run')
    .flatMap((block) => block.text.split('\n').map(bare));
  let at = 0;
  for (const line of text.split('\n').map(bare)) {
    if (line === '') continue;
    at = run.indexOf(line, at) + 1;
    if (at === 0) return `has a line that the other page has not, or not in this order: ${line}`;
  }
  return null;
}

/** Without the comment at its end. */
function bare(line: string): string {
  return line.replace(/(^|\s+)# .*$/, '').trim();
}
