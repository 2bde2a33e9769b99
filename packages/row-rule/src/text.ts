const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of the bytes; null when they are not valid UTF-8. A byte-order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}

/** What a spreadsheet takes for the beginning of a formula; a control character there may be passed over (OWASP). */
const formula = /^[=+\-@\p{Cc}]/u;

/**
 * One field of RFC 4180; null is empty. A text that would be a formula gets a `'` before it: names of files and refused
 * rows are a stranger's words, and whoever opens the list in a spreadsheet did not ask to run them.
 */
export function csvField(value: string | number | null): string {
  const text = typeof value === 'string' && formula.test(value) ? `'${value}` : String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Makes bytes of a file fit to be shown: what is not printable (control characters, broken UTF-8) becomes `\xNN`, and
 * a backslash is doubled, so that the text can be told from the escapes.
 */
export function displayText(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length;) {
    const length = characterLength(bytes, index);
    const character = length === 0 ? null : decodeUtf8(bytes.subarray(index, index + length));
    text += character === null ? escapeByte(bytes[index] ?? 0) : printable(character, bytes[index] ?? 0);
    index += character === null ? 1 : length;
  }
  return text;
}

function characterLength(bytes: Uint8Array, index: number): number {
  const first = bytes[index] ?? 0;
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

function printable(character: string, byte: number): string {
  if (character === '\\') return '\\\\';
  if (byte < 0x20 || byte === 0x7f) return escapeByte(byte);
  // C1 controls, and signs that change the direction or the lines of what stands around them.
  return /[\u0080-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/.test(character)
    ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
    : character;
}

function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}
