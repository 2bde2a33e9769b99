import { type Column, escapeTerminal, outputFor } from '@inlet/cli';
import type { Command } from 'commander';
import type { Customer, UserToken } from '../../domain/customer.ts';
import {
  createCustomer,
  createUserToken,
  listCustomers,
  listUserTokens,
  revokeUserToken,
} from '../../usecases/admin/manage-keys.ts';
import { type OutputOptions, noteIfMore, operatorCommand, pageAfter, parseId, printList, when } from './output.ts';
import { withWiring } from './with-wiring.ts';

type OfPartner = OutputOptions & { readonly partner: string };

const customerColumns: readonly Column<ReturnType<typeof customerRecord>>[] = [
  { title: 'ID', align: 'right', of: ({ customer_id }) => customer_id },
  { title: 'NAME', of: ({ name }) => name, canShrink: true },
];

export function addCustomerCommands(program: Command): void {
  const customer = program.command('customer').description("manage partners' customers");
  const command = (name: string, description: string): Command =>
    operatorCommand(customer, name, description).requiredOption('--partner <name>', 'name of the partner');

  command('create', 'create a customer')
    .requiredOption('--name <name>', '1 to 100 characters, unique within the partner')
    .action(({ partner, name, ...options }: OfPartner & { name: string }) =>
      withWiring(async (deps) => {
        const made = customerRecord(await createCustomer(deps, partner, name));
        outputFor(options).result(made, () => escapeTerminal(`customer ${made.customer_id} "${made.name}" is created`));
      }),
    );

  command('list', "list a partner's customers")
    .option('--after <customer-id>', 'list entries after this ID')
    .action(({ partner, after, ...options }: OfPartner & { after?: string }) =>
      withWiring(async (deps) => {
        const output = outputFor(options);
        const customers = await listCustomers(deps, partner, pageAfter('customer', after));
        printList(output, customerColumns, customers.map(customerRecord), 'The partner has no customers.');
        noteIfMore(output, customers);
      }),
    );
}

function customerRecord({ id, name }: Customer) {
  return { customer_id: id, name };
}

const tokenColumns: readonly Column<ReturnType<typeof tokenRecord>>[] = [
  { title: 'ID', align: 'right', of: ({ token_id }) => token_id },
  { title: 'STATE', of: ({ revoked_at }) => (revoked_at === null ? 'active' : 'revoked') },
  { title: 'CUSTOMER', of: ({ customer }) => customer, canShrink: true },
  { title: 'CREATED', of: ({ created_at }) => when(created_at) },
  { title: 'REVOKED', of: ({ revoked_at }) => when(revoked_at) },
];

export function addUserTokenCommands(program: Command): void {
  const userToken = program
    .command('user-token')
    .description('manage the user tokens that partners send to act for a customer');
  const command = (name: string, description: string): Command =>
    operatorCommand(userToken, name, description).requiredOption('--partner <name>', 'name of the partner');

  command('create', 'create a user token for a customer (shown once)')
    .requiredOption('--customer <name>', 'name of the customer')
    .action(({ partner, customer, ...options }: OfPartner & { customer: string }) =>
      withWiring(async (deps) => {
        const output = outputFor(options);
        const { id, token, customer: of } = await createUserToken(deps, partner, customer);
        // The result is the token alone, so that a script can store it.
        output.result({ token_id: id, customer_id: of.id, customer: of.name, user_token: token.reveal() }, () =>
          token.reveal(),
        );
        output.note(`This is user token ${id}. It is shown only once, because Inlet stores only its hash.`);
      }),
    );

  command('list', "list a partner's user tokens, without the secret")
    .option('--after <token-id>', 'list entries after this ID')
    .action(({ partner, after, ...options }: OfPartner & { after?: string }) =>
      withWiring(async (deps) => {
        const output = outputFor(options);
        const tokens = await listUserTokens(deps, partner, pageAfter('user token', after));
        printList(output, tokenColumns, tokens.map(tokenRecord), 'The partner has no user tokens.');
        noteIfMore(output, tokens);
      }),
    );

  command('revoke', 'permanently revoke a user token')
    .argument('<token-id>')
    .action((text: string, { partner, ...options }: OfPartner) =>
      withWiring(async (deps) => {
        const id = parseId('user token', text);
        await revokeUserToken(deps, partner, id);
        outputFor(options).result({ token_id: id }, () => `user token ${id} is revoked`);
      }),
    );
}

function tokenRecord({ id, customer, createdAt, revokedAt }: UserToken) {
  return {
    token_id: id,
    customer_id: customer.id,
    customer: customer.name,
    created_at: createdAt,
    revoked_at: revokedAt,
  };
}
