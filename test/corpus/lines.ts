// Building blocks of corpus files.

export const byteOrderMark = '\uFEFF';

/** The attributes of the corpus partner by name, with the foreign keys that its files use. */
export const corpusAttributes: Readonly<Record<string, readonly string[]>> = {
  short: ['a', 'ab'],
  sport: ['sport', 'quo"te', 'with,comma', '🏀', '=1+1'],
  many: Array.from({ length: 500 }, (_, index) => `many-${index + 1}`),
};

export function deviceId(n: number): string {
  return `6d92078a-8246-4ba4-ae5b-${n.toString(16).padStart(12, '0')}`;
}

/** A valid row of two columns. */
export function two(n: number, keys = 'sport'): string {
  return `${deviceId(n)},${keys}`;
}

type Values = { readonly idType?: string; readonly country?: string; readonly operation?: string };

/** A row of five columns, valid by default. */
export function five(n: number, { idType = '1', country = 'DE', operation = '0' }: Values = {}): string {
  return `${deviceId(n)},${idType},${country},${operation},sport`;
}

/** Joins lines, each with a final newline. */
export function lines(...all: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(all.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
}

/** Converts hexadecimal digits to bytes. Spaces are ignored. */
export function bytes(digits: string): Buffer {
  return Buffer.from(digits.replaceAll(' ', ''), 'hex');
}

/** Several valid rows of two columns. */
export function goodRows(count: number, from = 1): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, index) => `${two(from + index)}\n`).join(''));
}
