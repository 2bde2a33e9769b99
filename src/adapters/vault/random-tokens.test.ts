import { describe, expect, it } from 'vitest';
import { randomTokens } from './random-tokens.ts';

describe('random tokens', () => {
  it('have 256 bits, are all different, and have a stable hash', () => {
    const issued = Array.from({ length: 1_000 }, () => randomTokens.issue());
    expect(new Set(issued.map(({ token }) => token.reveal())).size).toBe(1_000);
    for (const { token, hash } of issued) {
      expect(Buffer.from(token.reveal(), 'base64url')).toHaveLength(32);
      expect(randomTokens.mayHaveIssued(token.reveal())).toBe(true);
      expect(randomTokens.hash(token.reveal())).toEqual(hash);
    }
    expect(String(issued[0]?.token)).toBe('[secret]');
  });

  it.each(['', 'x', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)} `, 'ä'.repeat(43)])(
    'does not accept %j as a token',
    (text) => {
      expect(randomTokens.mayHaveIssued(text)).toBe(false);
    },
  );

  it('have a CSRF token that does not reveal them', () => {
    const [one, other] = [randomTokens.issue().token.reveal(), randomTokens.issue().token.reveal()];
    const csrf = randomTokens.csrfTokenOf(one);
    expect(csrf).not.toContain(one);
    expect(csrf).not.toBe(Buffer.from(randomTokens.hash(one)).toString('base64url'));
    expect(randomTokens.isCsrfTokenOf(csrf, one)).toBe(true);
    expect(randomTokens.isCsrfTokenOf(csrf, other)).toBe(false);
    expect(randomTokens.isCsrfTokenOf('', one)).toBe(false);
  });
});
