import { wrongUse } from '../failures/cli-failure.ts';
import { ask } from '../terminal/prompt.ts';

/** A path without a slash at its end may be a prefix too; only the storage knows, and the record then says so. */
export function isPrefix(path: string): boolean {
  return path.endsWith('/');
}

export async function readCompressed(isOfPrefix: boolean, given: boolean | undefined): Promise<boolean | undefined> {
  if (given !== undefined || !isOfPrefix) return given;
  const answer = await ask({
    what: 'Whether the files under the prefix are gzipped',
    question: 'Are the files under this prefix gzipped (yes or no)',
    flag: '--compressed or --no-compressed',
  });
  if (/^y(?:es)?$/i.test(answer)) return true;
  if (/^no?$/i.test(answer)) return false;
  throw wrongUse(`"${answer}" is neither yes nor no.`, 'Give --compressed or --no-compressed.');
}
