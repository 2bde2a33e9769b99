import { type Delimiter, keySeparator, rejectReasons, splitLine, trimSpaces } from './row-rule.ts';
import { displayText } from './text.ts';

/** How many bytes of each rejected row the service stores. */
export const storedRowBytes = 200;

const maxNamedCharacters = 64;

const delimiters: readonly Delimiter[] = [',', '\t'];
const columnCounts: ReadonlySet<number> = new Set([2, 5]);
const anyId = /^[0-9a-f-]{32,36}$/i;
/**
 * A device ID, or a hash of one, can be in the wrong column. It is not named, because deletions of devices remove
 * rejected rows but do not change the records that contain the message.
 */
const containsId = /(?:[0-9a-f]-?){32}/i;

type RowKeys = {
  readonly keys: readonly string[];
  /** False if the stored start of the row does not contain all of its keys. */
  readonly isComplete: boolean;
};

/**
 * Returns the keys in the stored start of a row that was rejected with `unknown_key`. The row has passed all earlier
 * checks, so its first field is an ID, which identifies the delimiter.
 */
export function keysOfStoredRow(start: Uint8Array): RowKeys {
  const isComplete = start.length < storedRowBytes;
  const text = new TextDecoder().decode(start);
  for (const delimiter of delimiters) {
    const fields = splitLine(text, delimiter);
    if (!columnCounts.has(fields.length) || !anyId.test(fields[0] ?? '')) continue;
    const keys = (fields.at(-1) ?? '').split(keySeparator).map(trimSpaces);
    return { keys: isComplete ? keys : keys.slice(0, -1), isComplete };
  }
  return { keys: [], isComplete };
}

/**
 * Returns the message for a row that was rejected with `unknown_key`. It names the first unknown key. A row's only key
 * is named even if it has become known since the row was rejected.
 */
export function unknownKeyMessage({ keys, isComplete }: RowKeys, isKnown: (key: string) => boolean): string {
  const only = isComplete && keys.length === 1 ? keys : [];
  const named = [...keys.filter((key) => !isKnown(key)), ...only].find((key) => !containsId.test(key));
  if (named === undefined) return rejectReasons.unknown_key;
  return `Unknown key "${shorten(displayText(new TextEncoder().encode(named)))}". Check key_type if every row fails.`;
}

function shorten(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= maxNamedCharacters) return text;
  return `${characters.slice(0, maxNamedCharacters).join('')}…`;
}
