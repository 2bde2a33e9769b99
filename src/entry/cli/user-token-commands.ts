import type { Command } from 'commander';
import type { UserToken } from '../../domain/customer.ts';
import { createUserToken, listUserTokens, revokeUserToken } from '../../usecases/admin/manage-keys.ts';
import { complain, say, sayJson } from './output.ts';
import { pageAfter, sayIfFull } from './page.ts';
import { toId } from './to-id.ts';
import { withWiring } from './with-wiring.ts';

type OfPartner = { readonly partner: string };

export function addUserTokenCommands(program: Command): void {
  const userToken = program.command('user-token').description('what a caller sends to act for a customer');
  const command = (name: string, description: string): Command =>
    userToken.command(name).description(description).requiredOption('--partner <name>', 'whose token it is');

  command('create', 'make a user token (shown once) for a customer')
    .requiredOption('--customer <name>', 'for whom it acts')
    .action(({ partner, customer }: OfPartner & { customer: string }) =>
      withWiring(async (deps) => {
        const made = await createUserToken(deps, partner, customer);
        sayJson({
          token_id: made.id,
          customer_id: made.customer.id,
          customer: made.customer.name,
          user_token: made.token.reveal(),
        });
        complain('The user token is shown only now; Inlet keeps a hash of it.');
      }),
    );

  command('list', 'show the user tokens of a partner, never the token itself')
    .option('--after <token-id>', 'go on after this one')
    .action(({ partner, after }: OfPartner & { after?: string }) =>
      withWiring(async (deps) => {
        const tokens = await listUserTokens(deps, partner, pageAfter('user token', after));
        sayJson(tokens.map(record));
        sayIfFull(tokens);
      }),
    );

  command('revoke', 'let a user token act for nobody, from now on and for good')
    .argument('<token-id>')
    .action((id: string, { partner }: OfPartner) =>
      withWiring(async (deps) => {
        await revokeUserToken(deps, partner, toId('user token', id));
        say(`user token ${id} is revoked`);
      }),
    );
}

function record({ id, customer, createdAt, revokedAt }: UserToken): object {
  return {
    token_id: id,
    customer_id: customer.id,
    customer: customer.name,
    created_at: createdAt,
    revoked_at: revokedAt,
  };
}
