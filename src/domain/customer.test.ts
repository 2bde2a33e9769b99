import { describe, expect, it } from 'vitest';
import { toCustomerName } from './customer.ts';
import { Failure } from './failure.ts';

describe('a customer name', () => {
  it.each(['A', 'Acme & Sons, Ltd.', 'Обувь', '靴', 'x'.repeat(100), '👟'.repeat(100)])(
    'accepts the customer name %j',
    (name) => {
      expect(toCustomerName(name)).toBe(name);
    },
  );

  it.each([' Acme', 'Acme  ', '\tAcme\n', '\u00a0Acme\u3000'])('trims the customer name %j', (text) => {
    expect(toCustomerName(text)).toBe('Acme');
  });

  it('keeps inner whitespace and case in a customer name', () => {
    expect(toCustomerName(' Acme  shoes ')).toBe('Acme  shoes');
  });

  it('checks the length of a customer name after trimming', () => {
    expect(toCustomerName(` ${'x'.repeat(100)} `)).toHaveLength(100);
  });

  it.each(['', ' ', '\n\t', 'x'.repeat(101), '👟'.repeat(101), 'Ac\nme', 'Ac\u0000me', 'Ac\u0085me'])(
    'rejects the customer name %j',
    (text) => {
      expect(() => toCustomerName(text)).toThrow(Failure);
      expect(() => toCustomerName(text)).toThrow(/^invalid_request: .*1 to 100 characters/);
    },
  );
});
