export const idBytes = 36;

/** By byte: 0 for the digit zero, 1 for any other hexadecimal digit, 2 for what is none. */
const digits = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return character === '0' ? 0 : /[0-9a-fA-F]/.test(character) ? 1 : 2;
});
const dash = 0x2d;

/** Whether an advertising id stands there, and not the one of zeros. */
export function beginsWithId(bytes: Uint8Array, start: number): boolean {
  if (start + idBytes > bytes.length) return false;
  if (bytes[start + 8] !== dash || bytes[start + 13] !== dash) return false;
  if (bytes[start + 18] !== dash || bytes[start + 23] !== dash) return false;
  const seen =
    digitsAt(bytes, start, start + 8) |
    digitsAt(bytes, start + 9, start + 13) |
    digitsAt(bytes, start + 14, start + 18) |
    digitsAt(bytes, start + 19, start + 23) |
    digitsAt(bytes, start + 24, start + 36);
  return seen === 1;
}

function digitsAt(bytes: Uint8Array, from: number, to: number): number {
  let seen = 0;
  for (let at = from; at < to; at += 1) seen |= digits[bytes[at] ?? 0] ?? 2;
  return seen;
}
