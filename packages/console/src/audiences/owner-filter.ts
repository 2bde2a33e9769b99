// The owner filter in the address of the list. A partner sees its own audiences and those of its customers.

const customerPrefix = 'customer:';

type Choice = readonly [value: string, text: string];

export const ownChoice: Choice = ['own', 'Your own'];

export function ownerChoice(customer: string): Choice {
  return [customerPrefix + customer, customer];
}

/** The parameter `customer` of the API. Without it, the API lists the partner's own audiences. */
export function customerOfOwner(owner: string | undefined): { readonly customer?: string } {
  if (owner === ownChoice[0]) return {};
  return { customer: owner?.startsWith(customerPrefix) ? owner.slice(customerPrefix.length) : '*' };
}
