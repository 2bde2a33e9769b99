// What the files of the corpus are made of.

export const byteOrderMark = '\uFEFF';

/** The attributes of the corpus' partner, by name, with the foreign keys that stand in its files. */
export const corpusAttributes: Readonly<Record<string, readonly string[]>> = {
  short: ['a', 'ab'],
  sport: ['sport', 'quo"te', 'with,comma', '🏀', '=1+1'],
  many: Array.from({ length: 500 }, (_, index) => `many-${index + 1}`),
};

export function deviceId(n: number): string {
  return `6d92078a-8246-4ba4-ae5b-${n.toString(16).padStart(12, '0')}`;
}

/** A good row of two columns. */
export function two(n: number, keys = 'sport'): string {
  return `${deviceId(n)},${keys}`;
}

type Values = { readonly idType?: string; readonly country?: string; readonly operation?: string };

/** A good row of five columns, unless told otherwise. */
export function five(n: number, { idType = '1', country = 'DE', operation = '0' }: Values = {}): string {
  return `${deviceId(n)},${idType},${country},${operation},sport`;
}

/** Lines that end with a newline each. */
export function lines(...all: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(all.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
}

/** Bytes from their hexadecimal digits; spaces are for the eye. */
export function bytes(digits: string): Buffer {
  return Buffer.from(digits.replaceAll(' ', ''), 'hex');
}

/** Several good rows of two columns. */
export function goodRows(count: number, from = 1): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, index) => `${two(from + index)}\n`).join(''));
}
