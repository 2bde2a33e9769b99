/** Control characters, which a terminal would interpret, and characters that change the text direction. */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Makes untrusted text, such as file names and server messages, safe to print. */
export function escapeTerminal(text: string): string {
  return text.replaceAll(unsafe, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

/** Returns equivalent JSON without unsafe characters. `JSON.stringify` does not escape characters above 0x7e. */
export function escapeTerminalJson(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, null, indent);
  return text.replaceAll(unsafe, (character) =>
    character === '\n' ? character : `\\u${hex(character.charCodeAt(0), 4)}`,
  );
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

const segmenter = new Intl.Segmenter();
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** Returns the number of columns that escaped text occupies. CJK characters and emoji occupy two columns. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += widthOf(segment);
  return width;
}

/** Truncates text to a width and adds an ellipsis if the text was cut. */
export function cutToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of segmenter.segment(text)) {
    width += widthOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return columns < 1 ? '' : `${kept}…`;
}

function widthOf(segment: string): number {
  return wide.test(segment) ? 2 : 1;
}

/**
 * Suggests the nearest name, for example ` Did you mean "production"?`. Empty if no name is within a distance of two.
 */
export function didYouMean(word: string, known: readonly string[]): string {
  const [nearest] = known
    .map((name) => ({ name, distance: distance(word.toLowerCase(), name.toLowerCase()) }))
    .filter((one) => one.distance <= Math.min(2, Math.max(word.length, one.name.length) / 2))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest ? ` Did you mean "${nearest.name}"?` : '';
}

/** Computes the Levenshtein distance. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (to[j - 1] === letter ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
