import type { DemoAccount } from './demo-provider.ts';

export const demoCustomer = 'Retail Co';

/** One account for each role that can sign in. */
export function demoAccounts(partner: string): DemoAccount[] {
  const ofPartner = { inlet_partner: partner };
  return [
    { id: 'operator', name: 'Olga Operator', claims: { inlet_role: 'operator' } },
    { id: 'partner', name: 'Dana Fox', claims: { ...ofPartner, inlet_role: 'partner' } },
    {
      id: 'customer',
      name: 'Carl Retail',
      claims: { ...ofPartner, inlet_role: 'customer', inlet_customer: demoCustomer },
    },
  ];
}
