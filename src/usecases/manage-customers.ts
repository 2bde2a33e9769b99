import { toCustomerName, type Customer } from '../domain/customer.ts';
import type { CustomerStore, Page } from '../ports/customer-store.ts';
import type { PartnerStore } from '../ports/partner-store.ts';
import { partnerNamed } from './partner-named.ts';

type Deps = { readonly partners: PartnerStore; readonly customers: CustomerStore };

export async function createCustomer(deps: Deps, partnerName: string, name: string): Promise<Customer> {
  const kept = toCustomerName(name);
  return deps.customers.create((await partnerNamed(deps, partnerName)).id, kept);
}

export async function listCustomers(deps: Deps, partnerName: string, page: Page): Promise<readonly Customer[]> {
  return deps.customers.list((await partnerNamed(deps, partnerName)).id, page);
}
