import type { Command } from 'commander';
import type { Customer } from '../../domain/customer.ts';
import { createCustomer, listCustomers } from '../../usecases/admin/manage-keys.ts';
import { sayJson } from './output.ts';
import { pageAfter, sayIfFull } from './page.ts';
import { withWiring } from './with-wiring.ts';

type OfPartner = { readonly partner: string };

export function addCustomerCommands(program: Command): void {
  const customer = program.command('customer').description('on whose behalf a partner loads audiences');
  const command = (name: string, description: string): Command =>
    customer.command(name).description(description).requiredOption('--partner <name>', 'whose customer it is');

  command('create', 'make a customer of a partner')
    .requiredOption('--name <name>', '1 to 100 characters, unique for the partner')
    .action(({ partner, name }: OfPartner & { name: string }) =>
      withWiring(async (deps) => sayJson(record(await createCustomer(deps, partner, name)))),
    );

  command('list', 'show the customers of a partner')
    .option('--after <customer-id>', 'go on after this one')
    .action(({ partner, after }: OfPartner & { after?: string }) =>
      withWiring(async (deps) => {
        const customers = await listCustomers(deps, partner, pageAfter('customer', after));
        sayJson(customers.map(record));
        sayIfFull(customers);
      }),
    );
}

function record({ id, name }: Customer): object {
  return { customer_id: id, name };
}
