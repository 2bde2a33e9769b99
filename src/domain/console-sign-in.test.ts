import { describe, expect, it } from 'vitest';
import { readUser } from './console-sign-in.ts';

const names = { role: 'role', partner: 'partner', customer: 'https://inlet.example/customer' };
const partner = { sub: 'u1', name: 'Dana Fox', role: 'partner', partner: 'acme' };
const customer = { ...partner, role: 'customer', [names.customer]: 'Retail Co' };

describe('readUser', () => {
  it('reads the role and the names from the configured claims', () => {
    const user = { subject: 'user u1', name: 'Dana Fox' };
    expect(readUser(partner, names)).toEqual({ ...user, role: 'partner', partner: 'acme' });
    expect(readUser(customer, names)).toEqual({ ...user, role: 'customer', partner: 'acme', customer: 'Retail Co' });
    expect(readUser({ ...customer, role: 'operator' }, names)).toEqual({ ...user, role: 'operator' });
  });

  it('accepts a list of roles that contains exactly one Inlet role', () => {
    expect(readUser({ ...partner, role: ['x', 'partner'] }, names)).toMatchObject({ role: 'partner' });
    expect(readUser({ ...partner, role: ['partner', 'operator'] }, names)).toEqual({ error: 'role_missing' });
  });

  it.each([
    [{ ...partner, sub: undefined }, 'sign_in_failed'],
    [{ ...partner, sub: '' }, 'sign_in_failed'],
    [{ ...partner, role: undefined }, 'role_missing'],
    [{ ...partner, role: 'Partner' }, 'role_missing'],
    [{ ...partner, role: 'link' }, 'role_missing'],
    [{ ...partner, role: { partner: true } }, 'role_missing'],
    [{ ...partner, partner: undefined }, 'partner_unknown'],
    [{ ...partner, partner: ['acme'] }, 'partner_unknown'],
    [{ ...customer, [names.customer]: undefined }, 'customer_unknown'],
    [{ ...customer, [names.customer]: '' }, 'customer_unknown'],
    [{ ...customer, [names.customer]: 'Retail\nCo' }, 'customer_unknown'],
  ])('rejects %j with %s', (claims, error) => {
    expect(readUser(claims, names)).toEqual({ error });
  });

  it.each([
    [{ name: 'Dana', email: 'd@x.example' }, 'Dana'],
    [{ name: ' ', preferred_username: 'dana' }, 'dana'],
    [{ email: 'd@x.example' }, 'd@x.example'],
    [{}, 'u1'],
    [{ name: 'a\u0000b\nc' }, 'a b c'],
    [{ name: '😀'.repeat(200) }, '😀'.repeat(100)],
    [{ name: 5 }, 'u1'],
  ])('shows %j as %j', (claims, name) => {
    expect(readUser({ sub: 'u1', role: 'operator', ...claims }, names)).toMatchObject({ name });
  });
});
