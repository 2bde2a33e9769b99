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
  const customer = program.command('customer').description("manage partners' customers");
  const command = (name: string, description: string): Command =>
    customer.command(name).description(description).requiredOption('--partner <name>', 'name of the partner');

  command('create', 'create a customer')
    .requiredOption('--name <name>', '1 to 100 characters, unique within the partner')
    .action(({ partner, name }: OfPartner & { name: string }) =>
      withWiring(async (deps) => printJson(customerRecord(await createCustomer(deps, partner, name)))),
    );

  command('list', "list a partner's customers")
    .option('--after <customer-id>', 'list entries after this ID')
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

export function addUserTokenCommands(program: Command): void {
  const userToken = program
    .command('user-token')
    .description('manage the user tokens that partners send to act for a customer');
  const command = (name: string, description: string): Command =>
    userToken.command(name).description(description).requiredOption('--partner <name>', 'name of the partner');

  command('create', 'create a user token for a customer (shown once)')
    .requiredOption('--customer <name>', 'name of the customer')
    .action(({ partner, customer }: OfPartner & { customer: string }) =>
      withWiring(async (deps) => {
        const made = await createUserToken(deps, partner, customer);
        printJson({
          token_id: made.id,
          customer_id: made.customer.id,
          customer: made.customer.name,
          user_token: made.token.reveal(),
        });
        printNote('The user token is shown only once. Inlet stores only its hash.');
      }),
    );

  command('list', "list a partner's user tokens, without the secret")
    .option('--after <token-id>', 'list entries after this ID')
    .action(({ partner, after }: OfPartner & { after?: string }) =>
      withWiring(async (deps) => {
        const tokens = await listUserTokens(deps, partner, pageAfter('user token', after));
        printJson(tokens.map(tokenRecord));
        noteIfMore(tokens);
      }),
    );

  command('revoke', 'permanently revoke a user token')
    .argument('<token-id>')
    .action((id: string, { partner }: OfPartner) =>
      withWiring(async (deps) => {
        await revokeUserToken(deps, partner, parseId('user token', id));
        print(`revoked user token ${id}`);
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
