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

const shownOnce = 'The key is shown only now; Inlet keeps a hash of it.';

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys: with what a partner calls');
  const command = (name: string, description: string): Command =>
    key.command(name).description(description).requiredOption('--partner <name>', 'whose key it is');

  command('create', 'make one more API key (shown once)')
    .option('--name <text>', 'what it is for, at most 100 characters', '')
    .option('--scope <scope>', `${scopes.join(', ')}; may be given several times, all when left out`, toScopes)
    .option('--expires-in <time>', 'when it ends: 90d, 12h, 30m; never when left out')
    .action(({ partner, name, scope, expiresIn }: NewKey) =>
      withWiring(async (deps) => {
        const wish = { name: toKeyName(name), scopes: scope ?? null, livesSeconds: secondsOf(expiresIn) };
        const { key: secret, made } = await createApiKey(deps, partner, wish);
        printJson({ ...record(made), api_key: secret.reveal() });
        printNote(shownOnce);
      }),
    );

  command('list', 'show the keys of a partner, never the key itself')
    .option('--after <key-id>', 'go on after this one')
    .action(({ partner, after }: OfPartner & { after?: string }) =>
      withWiring(async (deps) => {
        const keys = await listApiKeys(deps, partner, pageAfter('key', after));
        printJson(keys.map(record));
        noteIfMore(keys);
      }),
    );

  command('rotate', 'make a key like another one (shown once), which works on for a while')
    .argument('<key-id>')
    .option('--overlap <time>', 'how long the old one still works', '24h')
    .option('--expires-in <time>', 'when the new one ends; when left out, it lives as long as the old one was to')
    .action((id: string, { partner, overlap, expiresIn }: Rotation) =>
      withWiring(async (deps) => {
        const times = { overlapSeconds: toSeconds(overlap), livesSeconds: secondsOf(expiresIn) };
        const { key: secret, made, old } = await rotateApiKey(deps, partner, parseId('key', id), times);
        printJson({ ...record(made), api_key: secret.reveal(), replaces: record(old) });
        printNote(shownOnce);
      }),
    );

  command('revoke', 'let a key work no more, from now on and for good')
    .argument('<key-id>')
    .action((id: string, { partner }: OfPartner) =>
      withWiring(async (deps) => {
        await revokeApiKey(deps, partner, parseId('key', id));
        print(`key ${id} is revoked`);
      }),
    );

  key
    .command('identify')
    .description('say what a text from standard input is and whose, for instance a key that was found somewhere')
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
  if (!isScope(given)) throw new InvalidArgumentError(`It is one of ${scopes.join(', ')}.`);
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
