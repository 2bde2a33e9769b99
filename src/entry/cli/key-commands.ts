import { type Column, type Output, fieldList, outputFor } from '@inlet/cli';
import { type Command, InvalidArgumentError } from 'commander';
import { text as readText } from 'node:stream/consumers';
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
import {
  type OutputOptions,
  noteIfMore,
  operatorCommand,
  pageAfter,
  parseId,
  printList,
  when,
  yesOrNo,
} from './output.ts';
import { withWiring } from './with-wiring.ts';

type OfPartner = OutputOptions & { readonly partner: string };
type NewKey = OfPartner & { readonly name: string; readonly scope?: readonly Scope[]; readonly expiresIn?: string };
type Rotation = OfPartner & { readonly overlap: string; readonly expiresIn?: string };

const columns: readonly Column<KeyRecord>[] = [
  { title: 'ID', align: 'right', of: ({ key_id }) => key_id },
  { title: 'NAME', of: ({ name }) => name, canShrink: true },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'SCOPES', of: ({ scopes: granted }) => (granted.length === scopes.length ? 'all' : granted.join(' ')) },
  { title: 'CREATED', of: ({ created_at }) => when(created_at) },
  { title: 'LAST USED', of: ({ last_used_at }) => when(last_used_at) },
  { title: 'EXPIRES', of: ({ expires_at }) => when(expires_at) },
];

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description("manage partners' API keys");
  const command = (name: string, description: string): Command =>
    operatorCommand(key, name, description).requiredOption('--partner <name>', 'name of the partner');

  command('create', 'create an API key (shown once)')
    .option('--name <text>', 'purpose of the key, at most 100 characters', '')
    .option('--scope <scope>', `${scopes.join(', ')}; repeatable; if omitted, all scopes`, toScopes)
    .option('--expires-in <time>', 'lifetime, for example 90d, 12h, or 30m; if omitted, the key never expires')
    .action(({ partner, name, scope, expiresIn, ...options }: NewKey) =>
      withWiring(async (deps) => {
        const newKey = { name: toKeyName(name), scopes: scope ?? null, livesSeconds: secondsOf(expiresIn) };
        const { key: secret, made } = await createApiKey(deps, partner, newKey);
        showCreated(outputFor(options), made.id, { ...record(made), api_key: secret.reveal() });
      }),
    );

  command('list', "list a partner's API keys, without the secret")
    .option('--after <key-id>', 'list entries after this ID')
    .action(({ partner, after, ...options }: OfPartner & { after?: string }) =>
      withWiring(async (deps) => {
        const output = outputFor(options);
        const keys = await listApiKeys(deps, partner, pageAfter('key', after));
        printList(output, columns, keys.map(record), 'The partner has no API keys.');
        noteIfMore(output, keys);
      }),
    );

  command('rotate', 'create a replacement for an API key (shown once); the old key keeps working during the overlap')
    .argument('<key-id>')
    .option('--overlap <time>', 'how long the old key keeps working', '24h')
    .option('--expires-in <time>', "lifetime of the new key; if omitted, the old key's lifetime")
    .action((id: string, { partner, overlap, expiresIn, ...options }: Rotation) =>
      withWiring(async (deps) => {
        const times = { overlapSeconds: toSeconds(overlap), livesSeconds: secondsOf(expiresIn) };
        const { key: secret, made, old } = await rotateApiKey(deps, partner, parseId('key', id), times);
        const output = outputFor(options);
        showCreated(output, made.id, { ...record(made), api_key: secret.reveal(), replaces: record(old) });
        output.note(`Key ${old.id} works until ${when(old.expiresAt)} (UTC).`);
      }),
    );

  command('revoke', 'permanently revoke an API key')
    .argument('<key-id>')
    .action((text: string, { partner, ...options }: OfPartner) =>
      withWiring(async (deps) => {
        const id = parseId('key', text);
        await revokeApiKey(deps, partner, id);
        outputFor(options).result({ key_id: id }, () => `key ${id} is revoked`);
      }),
    );

  operatorCommand(
    key,
    'identify',
    'read a key from standard input and print its kind, its partner, and whether it is valid',
  ).action((options: OutputOptions) =>
    withWiring(async (deps) => {
      const { format, holder } = await identifyApiKey(deps, (await readText(process.stdin)).trim());
      const found = {
        kind: format?.kind ?? null,
        environment: format?.environment ?? null,
        partner: holder?.partner.name ?? null,
        key_id: holder?.keyId ?? null,
        valid: holder?.isValid ?? false,
      };
      const output = outputFor(options);
      output.result(found, () =>
        fieldList(
          [
            ['kind', found.kind ?? 'not an Inlet key'],
            ['environment', found.environment ?? '-'],
            ['partner', found.partner ?? 'unknown'],
            ['key ID', String(found.key_id ?? '-')],
            ['valid', yesOrNo(found.valid)],
          ],
          output.stdout,
        ),
      );
    }),
  );
}

/** The result is the key alone, so that a script can store it. */
function showCreated(
  output: Output,
  id: number,
  made: KeyRecord & { readonly api_key: string; readonly replaces?: KeyRecord },
): void {
  output.result(made, () => made.api_key);
  output.note(`This is key ${id}. It is shown only once, because Inlet stores only its hash.`);
}

function toScopes(given: string, before: readonly Scope[] = []): readonly Scope[] {
  if (!isScope(given)) throw new InvalidArgumentError(`Use one of ${scopes.join(', ')}.`);
  return [...new Set([...before, given])];
}

function secondsOf(given: string | undefined): number | null {
  return given === undefined ? null : toSeconds(given);
}

type KeyRecord = ReturnType<typeof record>;

function stateOf({ revokedAt, expiresAt }: ApiKey): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= new Date() ? 'expired' : 'active';
}

function record(key: ApiKey) {
  return {
    key_id: key.id,
    name: key.name,
    state: stateOf(key),
    scopes: key.scopes,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  };
}
