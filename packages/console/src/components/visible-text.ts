// Control characters, and characters that change the direction of the text or are invisible.
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const invisible = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Writes invisible characters as `\u202e`, so that one name cannot look like another. */
export function visibleText(text: string): string {
  const shown = text.replace(invisible, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return shown.trim() === '' ? '(blank)' : shown;
}
