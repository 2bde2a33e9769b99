/**
 * Control characters (a terminal obeys them), and those that turn the direction of text (a person reads something else
 * than what is there).
 */
const obeyed = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text that a file name or a server brought along, so that a terminal shows it and does nothing else. */
export function harmless(text: string): string {
  return text.replaceAll(obeyed, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

/** JSON that means the same and has no such character in it. `JSON.stringify` leaves those above 0x7e as they are. */
export function harmlessJson(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, null, indent);
  return text.replaceAll(obeyed, (character) =>
    character === '\n' ? character : `\\u${hex(character.charCodeAt(0), 4)}`,
  );
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
