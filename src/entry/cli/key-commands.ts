import { type Command, InvalidArgumentError } from 'commander';
import { text } from 'node:stream/consumers';
import { type ApiKey, toKeyName } from '../../domain/api-key.ts';
import { type Scope, isScope, scopes } from '../../domain/caller.ts';
import { toSeconds } from '../../domain/duration.ts';
import {
  createApiKey,
  identifyApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from '../../usecases/admin/manage-keys.ts';
import { printNote, pageAfter, print, noteIfMore, printJson, parseId } from './output.ts';
import { withWiring } from './with-wiring.ts';

type OfPartner = { readonly partner: string };
type NewKey = OfPartner & { readonly name: string; readonly scope?: readonly Scope[]; readonly expiresIn?: string };
type Rotation = OfPartner & { readonly overlap: string; readonly expiresIn?: string };

const shownOnce = 'The API key is shown only once. Inlet stores only its hash.';

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description("manage partners' API keys");
  const command = (name: string, description: string): Command =>
    key.command(name).description(description).requiredOption('--partner <name>', 'name of the partner');

  command('create', 'create an API key (shown once)')
    .option('--name <text>', 'purpose of the key, at most 100 characters', '')
    .option('--scope <scope>', `${scopes.join(', ')}; repeatable; if omitted, all scopes`, toScopes)
    .option('--expires-in <time>', 'lifetime, for example 90d, 12h, or 30m; if omitted, the key never expires')
    .action(({ partner, name, scope, expiresIn }: NewKey) =>
      withWiring(async (deps) => {
        const newKey = { name: toKeyName(name), scopes: scope ?? null, livesSeconds: secondsOf(expiresIn) };
        const { key: secret, made } = await createApiKey(deps, partner, newKey);
        printJson({ ...record(made), api_key: secret.reveal() });
        printNote(shownOnce);
      }),
    );

  command('list', "list a partner's API keys, without the secret")
    .option('--after <key-id>', 'list entries after this ID')
    .action(({ partner, after }: OfPartner & { after?: string }) =>
      withWiring(async (deps) => {
        const keys = await listApiKeys(deps, partner, pageAfter('key', after));
        printJson(keys.map(record));
        noteIfMore(keys);
      }),
    );

  command('rotate', 'create a replacement for an API key (shown once); the old key keeps working during the overlap')
    .argument('<key-id>')
    .option('--overlap <time>', 'how long the old key keeps working', '24h')
    .option('--expires-in <time>', "lifetime of the new key; if omitted, the old key's lifetime")
    .action((id: string, { partner, overlap, expiresIn }: Rotation) =>
      withWiring(async (deps) => {
        const times = { overlapSeconds: toSeconds(overlap), livesSeconds: secondsOf(expiresIn) };
        const { key: secret, made, old } = await rotateApiKey(deps, partner, parseId('key', id), times);
        printJson({ ...record(made), api_key: secret.reveal(), replaces: record(old) });
        printNote(shownOnce);
      }),
    );

  command('revoke', 'permanently revoke an API key')
    .argument('<key-id>')
    .action((id: string, { partner }: OfPartner) =>
      withWiring(async (deps) => {
        await revokeApiKey(deps, partner, parseId('key', id));
        print(`revoked key ${id}`);
      }),
    );

  key
    .command('identify')
    .description('read a key from standard input and print its format, its partner, and whether it is valid')
    .action(() =>
      withWiring(async (deps) => {
        const { format, holder } = await identifyApiKey(deps, (await text(process.stdin)).trim());
        printJson({
          kind: format?.kind ?? null,
          environment: format?.environment ?? null,
          partner: holder?.partner.name ?? null,
          key_id: holder?.keyId ?? null,
          works: holder?.isValid ?? false,
        });
      }),
    );
}

function toScopes(given: string, before: readonly Scope[] = []): readonly Scope[] {
  if (!isScope(given)) throw new InvalidArgumentError(`Use one of ${scopes.join(', ')}.`);
  return [...new Set([...before, given])];
}

function secondsOf(given: string | undefined): number | null {
  return given === undefined ? null : toSeconds(given);
}

function record(key: ApiKey): object {
  return {
    key_id: key.id,
    name: key.name,
    scopes: key.scopes,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  };
}
