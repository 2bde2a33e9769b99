import { describe, expect, it } from 'vitest';
import { customerShare, limitFor } from './customer-share.ts';

describe('the share of a customer', () => {
  it.each([
    [100, 50],
    [10, 5],
    [3, 1],
    [1, 1],
  ])('is half of the limit %d, but at least one', (limit, most) => {
    expect(customerShare({ customerId: 7 }, limit)).toEqual({ customerId: 7, most });
    expect(limitFor({ customerId: 7 }, limit)).toBe(most);
  });

  it('does not apply to the partner itself, which can use the whole limit', () => {
    expect(customerShare({ customerId: null }, 100)).toBeNull();
    expect(limitFor({ customerId: null }, 100)).toBe(100);
  });
});
