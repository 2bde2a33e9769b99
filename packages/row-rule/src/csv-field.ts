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
