import type { Command } from 'commander';
import type { Customer, UserToken } from '../../domain/customer.ts';
import {
  createCustomer,
  createUserToken,
  listCustomers,
  listUserTokens,
  revokeUserToken,
} from '../../usecases/admin/manage-keys.ts';
import { printNote, pageAfter, print, noteIfMore, printJson, parseId } from './output.ts';
import { withWiring } from './with-wiring.ts';

type OfPartner = { readonly partner: string };

export function addCustomerCommands(program: Command): void {
  const customer = program.command('customer').description('on whose behalf a partner loads audiences');
  const command = (name: string, description: string): Command =>
    customer.command(name).description(description).requiredOption('--partner <name>', 'whose customer it is');

  command('create', 'make a customer of a partner')
    .requiredOption('--name <name>', '1 to 100 characters, unique for the partner')
    .action(({ partner, name }: OfPartner & { name: string }) =>
      withWiring(async (deps) => printJson(customerRecord(await createCustomer(deps, partner, name)))),
    );

  command('list', 'show the customers of a partner')
    .option('--after <customer-id>', 'go on after this one')
    .action(({ partner, after }: OfPartner & { after?: string }) =>
      withWiring(async (deps) => {
        const customers = await listCustomers(deps, partner, pageAfter('customer', after));
        printJson(customers.map(customerRecord));
        noteIfMore(customers);
      }),
    );
}

function customerRecord({ id, name }: Customer): object {
  return { customer_id: id, name };
}

type OfPartner2 = { readonly partner: string };

export function addUserTokenCommands(program: Command): void {
  const userToken = program.command('user-token').description('what a caller sends to act for a customer');
  const command = (name: string, description: string): Command =>
    userToken.command(name).description(description).requiredOption('--partner <name>', 'whose token it is');

  command('create', 'make a user token (shown once) for a customer')
    .requiredOption('--customer <name>', 'for whom it acts')
    .action(({ partner, customer }: OfPartner2 & { customer: string }) =>
      withWiring(async (deps) => {
        const made = await createUserToken(deps, partner, customer);
        printJson({
          token_id: made.id,
          customer_id: made.customer.id,
          customer: made.customer.name,
          user_token: made.token.reveal(),
        });
        printNote('The user token is shown only now; Inlet keeps a hash of it.');
      }),
    );

  command('list', 'show the user tokens of a partner, never the token itself')
    .option('--after <token-id>', 'go on after this one')
    .action(({ partner, after }: OfPartner2 & { after?: string }) =>
      withWiring(async (deps) => {
        const tokens = await listUserTokens(deps, partner, pageAfter('user token', after));
        printJson(tokens.map(tokenRecord));
        noteIfMore(tokens);
      }),
    );

  command('revoke', 'let a user token act for nobody, from now on and for good')
    .argument('<token-id>')
    .action((id: string, { partner }: OfPartner2) =>
      withWiring(async (deps) => {
        await revokeUserToken(deps, partner, parseId('user token', id));
        print(`user token ${id} is revoked`);
      }),
    );
}

function tokenRecord({ id, customer, createdAt, revokedAt }: UserToken): object {
  return {
    token_id: id,
    customer_id: customer.id,
    customer: customer.name,
    created_at: createdAt,
    revoked_at: revokedAt,
  };
}
