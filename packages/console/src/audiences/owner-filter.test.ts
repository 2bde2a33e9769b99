import { describe, expect, it } from 'vitest';
import { customerOfOwner, ownChoice, ownerChoice } from './owner-filter.ts';

describe('the owner filter', () => {
  it.each([
    ['all owners without a filter', undefined, { customer: '*' }],
    ["the partner's own audiences", ownChoice[0], {}],
    ['one customer', ownerChoice('Retail Co')[0], { customer: 'Retail Co' }],
    ['a customer with the same name as a choice', ownerChoice('own')[0], { customer: 'own' }],
    ['all owners with an unknown value', 'theirs', { customer: '*' }],
  ])('lists %s', (_title, owner, expected) => expect(customerOfOwner(owner)).toEqual(expected));
});
