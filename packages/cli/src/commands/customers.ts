import type { Customer, UserToken } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { allOf, connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { declined } from '../failures/cli-failure.ts';
import { timeOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { type Column, table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { toId } from './arguments.ts';

type Confirmed = CommonOptions & { readonly yes?: true };

const customerColumns: readonly Column<Customer>[] = [
  { title: 'ID', align: 'right', of: ({ customer_id }) => customer_id },
  { title: 'NAME', of: ({ name }) => name, canShrink: true },
];

export function addCustomersCommand(program: Command): void {
  const customers = program.command('customers').description('list and manage your customers');

  partnerCommand(customers, 'list', {
    description: 'list your customers (default)',
    examples: [['inlet customers', 'List your customers with their IDs.']],
    isDefault: true,
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const list = await allOf(({ query }) => inlet.listCustomers({ query }));
    output.result(list, () =>
      list.length === 0 ? 'You have no customers yet.' : table(customerColumns, list, output.stdout),
    );
  });

  partnerCommand(customers, 'create', {
    description: 'create a customer',
    examples: [['inlet customers create Globex', 'Create a customer.']],
  })
    .argument('<name>', 'unique name, 1 to 100 characters')
    .action(async (name: string, options: CommonOptions) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const made = valueOf(await inlet.createCustomer({ name }));
      output.result(made, () => escapeTerminal(`customer ${made.customer_id} "${made.name}" is created`));
      output.note(`Issue a user token for it: inlet tokens create ${made.customer_id}`);
    });

  partnerCommand(customers, 'rename', {
    description: 'rename a customer; tokens from an OpenID Connect issuer must use the new name',
    examples: [['inlet customers rename 5 "Globex Europe"', 'Rename a customer.']],
  })
    .argument('<id>', 'customer ID')
    .argument('<name>', 'unique name, 1 to 100 characters')
    .action(async (text: string, name: string, options: CommonOptions) => {
      const output = outputFor(options);
      const id = toId('customer', text);
      const inlet = await connect(options);
      const renamed = valueOf(await inlet.renameCustomer(id, { name }));
      output.result(renamed, () => escapeTerminal(`customer ${id} is now "${renamed.name}"`));
    });

  partnerCommand(customers, 'remove', {
    description: 'remove a customer without audiences, together with its user tokens',
    examples: [['inlet customers remove 5 --yes', 'Remove a customer without a prompt.']],
  })
    .argument('<id>', 'customer ID')
    .option('-y, --yes', 'skip the confirmation')
    .action(async (text: string, options: Confirmed) => {
      const output = outputFor(options);
      const id = toId('customer', text);
      const inlet = await connect(options);
      const isAgreed = await confirm(`This removes customer ${id} and revokes its user tokens. Continue?`, options.yes);
      if (!isAgreed) throw declined('Nothing was removed.');
      valueOf(await inlet.removeCustomer(id));
      output.result({ customer_id: id }, () => `customer ${id} is removed`);
    });
}

const tokenColumns: readonly Column<UserToken>[] = [
  { title: 'ID', align: 'right', of: ({ token_id }) => token_id },
  { title: 'STATE', of: ({ revoked_at }) => (revoked_at === null ? 'active' : 'revoked') },
  { title: 'CREATED', of: ({ created_at }) => timeOf(created_at) },
  { title: 'CREATED BY', of: ({ created_by }) => created_by ?? 'operator' },
];

export function addTokensCommand(program: Command): void {
  const tokens = program.command('tokens').description("manage your customers' user tokens");

  partnerCommand(tokens, 'list', {
    description: "list a customer's user tokens, without the tokens themselves",
    examples: [['inlet tokens list 5', 'List the tokens of customer 5.']],
  })
    .argument('<customer-id>')
    .action(async (text: string, options: CommonOptions) => {
      const output = outputFor(options);
      const customer = toId('customer', text);
      const inlet = await connect(options);
      const list = await allOf(({ query }) => inlet.listUserTokens(customer, { query }));
      output.result(list, () =>
        list.length === 0 ? 'The customer has no user tokens.' : table(tokenColumns, list, output.stdout),
      );
    });

  partnerCommand(tokens, 'create', {
    description: 'issue a user token for a customer (shown once)',
    examples: [['inlet tokens create 5', 'Issue a token for customer 5.']],
  })
    .argument('<customer-id>')
    .action(async (text: string, options: CommonOptions) => {
      const output = outputFor(options);
      const customer = toId('customer', text);
      const inlet = await connect(options);
      const made = valueOf(await inlet.createUserToken(customer));
      const { user_token: token, token_id: id } = made;
      output.result(made, () => escapeTerminal(token ?? ''));
      output.note(
        token === null
          ? `Token ${id} was issued by an earlier attempt whose response was lost. Revoke it and issue another one.`
          : `This is token ${id}. It is shown only once, because Inlet stores only its hash.`,
      );
    });

  partnerCommand(tokens, 'revoke', {
    description: 'permanently revoke a user token',
    examples: [['inlet tokens revoke 5 9 --yes', 'Revoke token 9 of customer 5 without a prompt.']],
  })
    .argument('<customer-id>')
    .argument('<token-id>')
    .option('-y, --yes', 'skip the confirmation')
    .action(async (customerText: string, text: string, options: Confirmed) => {
      const output = outputFor(options);
      const customer = toId('customer', customerText);
      const id = toId('token', text);
      const inlet = await connect(options);
      const isAgreed = await confirm(`Every request with token ${id} will be rejected. Continue?`, options.yes);
      if (!isAgreed) throw declined('Nothing was revoked.');
      valueOf(await inlet.revokeUserToken(customer, id));
      output.result({ token_id: id }, () => `user token ${id} is revoked`);
    });
}
