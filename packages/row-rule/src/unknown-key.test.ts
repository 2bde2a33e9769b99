import { describe, expect, it } from 'vitest';
import { rejectReasons } from './row-rule.ts';
import { keysOfStoredRow, storedRowBytes, unknownKeyMessage } from './unknown-key.ts';

const id = '6f1c2a9e-4b7d-4c1e-9a55-0d3b8e7f1a04';
const known = new Set(['sport', 'chess']);

function messageOf(row: string | Buffer): string {
  return unknownKeyMessage(keysOfStoredRow(Buffer.from(row).subarray(0, storedRowBytes)), (key) => known.has(key));
}

const golf = 'Unknown key "golf". Check key_type if every row fails.';

describe('unknownKeyMessage', () => {
  it.each([
    ['two columns', `${id},golf`],
    ['five columns', `${id},1,DE,0,golf`],
    ['tabs', `${id}\tsport|golf`],
    ['tabs and a comma in a key', `${id}\tgolf|a,b`],
    ['a known key before it', `${id},sport| golf |tennis`],
    ['quotes', `"${id}", "sport|golf"`],
    ['an ID without hyphens', `${id.replaceAll('-', '')},golf`],
    ['a byte-order mark', `\ufeff${id},golf`],
  ])('names the first unknown key of a row with %s', (_, row) => {
    expect(messageOf(row)).toBe(golf);
  });

  it("names a row's only key after it has become known", () => {
    expect(messageOf(`${id},sport`)).toContain('"sport"');
    expect(messageOf(`${id},sport|chess`)).toBe(rejectReasons.unknown_key);
  });

  it('escapes unprintable characters and shortens long keys', () => {
    expect(messageOf(`${id},\u0007\u202e`)).toContain(String.raw`"\x07\u202e"`);
    expect(messageOf(`${id},${'ü'.repeat(70)}`)).toContain(`"${'ü'.repeat(64)}…"`);
  });

  it('does not name a key that the stored text cuts off', () => {
    const filler = Array.from({ length: 22 }, () => 'sport').join('|');
    expect(messageOf(`${id},${filler}|${'x'.repeat(100)}`)).toBe(rejectReasons.unknown_key);
    expect(messageOf(`${id},golf|${'x'.repeat(200)}`)).toBe(golf);
    expect(messageOf(`"${id}","golf|${'x'.repeat(200)}"`)).toBe(rejectReasons.unknown_key);
  });

  it.each([id, id.toUpperCase(), `x${id.replaceAll('-', '')}`, 'ab'.repeat(20)])(
    'does not name a key that contains a device ID or a hash: %s',
    (key) => {
      expect(messageOf(`${id},${key}`)).toBe(rejectReasons.unknown_key);
      expect(messageOf(`${id},${key}|golf`)).toBe(golf);
    },
  );

  it('names nothing if the text is not a row', () => {
    expect(messageOf('')).toBe(rejectReasons.unknown_key);
    expect(messageOf(Buffer.from([0xff, 0xfe]))).toBe(rejectReasons.unknown_key);
  });
});
