const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns null if the bytes are not valid UTF-8. Keeps a byte-order mark. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Matches text that spreadsheets treat as the start of a formula. They may skip a leading control character (OWASP).
 */
const formula = /^[=+\-@\p{Cc}]/u;

/**
 * Formats one RFC 4180 field. Null becomes an empty field. Text that a spreadsheet would run as a formula gets a
 * leading `'`, because file names and rejected rows are untrusted input.
 */
export function csvField(value: string | number | null): string {
  const text = typeof value === 'string' && formula.test(value) ? `'${value}` : String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Makes bytes printable. Control characters and invalid UTF-8 become `\xNN`. Backslashes are doubled, so that escapes
 * are unambiguous.
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
  // C1 control characters, and characters that change the text direction or break lines.
  return /[\u0080-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/.test(character)
    ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
    : character;
}

function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}
