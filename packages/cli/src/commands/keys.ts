import type { ApiKey, CreateApiKey, CreatedApiKey, StorageKey } from '@inlet/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { allOf, connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { declined } from '../failures/cli-failure.ts';
import { timeOf } from '../terminal/format.ts';
import { type Output, outputFor } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { type Column, table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { toId, wholeNumber } from './arguments.ts';

type Scope = CreateApiKey['scopes'][number];

const scopes: readonly Scope[] = [
  'marketplace:read',
  'marketplace:write',
  'audience:read',
  'audience:write',
  'attributes:write',
  'keys:read',
  'keys:write',
  'customers:read',
  'customers:write',
  'storage:write',
  'webhooks:write',
  'privacy:write',
];

const timeOrDash = (time: string | null): string => (time === null ? '-' : timeOf(time));

const columns: readonly Column<ApiKey>[] = [
  { title: 'ID', align: 'right', of: ({ key_id }) => key_id },
  { title: 'NAME', of: ({ name }) => name, canShrink: true },
  { title: 'STATE', of: stateOf },
  { title: 'SCOPES', of: ({ scopes: granted }) => (granted.length === scopes.length ? 'all' : granted.join(' ')) },
  { title: 'CREATED', of: ({ created_at }) => timeOf(created_at) },
  { title: 'CREATED BY', of: ({ created_by }) => created_by ?? 'operator' },
  { title: 'LAST USED', of: ({ last_used_at }) => timeOrDash(last_used_at) },
  { title: 'EXPIRES', of: ({ expires_at }) => timeOrDash(expires_at) },
];

function stateOf({ current, revoked_at, expires_at }: ApiKey): string {
  if (revoked_at !== null) return 'revoked';
  if (expires_at !== null && new Date(expires_at) <= new Date()) return 'expired';
  return current ? 'this key' : 'active';
}

type NewKey = CommonOptions & {
  readonly name: string;
  readonly scope: readonly Scope[];
  readonly expiresInDays?: number | null;
};
type Rotation = CommonOptions & { readonly overlapHours: number; readonly expiresInDays?: number | null };

export function addKeysCommand(program: Command): void {
  const keys = program.command('keys').description('list and manage your API keys');

  partnerCommand(keys, 'list', {
    description: 'list your API keys without their secret values (default)',
    examples: [['inlet keys', 'List your keys, including those that expired or were revoked in the last 90 days.']],
    isDefault: true,
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const list = await allOf(({ query }) => inlet.listKeys({ query }));
    output.result(list, () => table(columns, list, output.stdout));
  });

  partnerCommand(keys, 'create', {
    description: 'create an API key (shown once)',
    examples: [
      [
        'inlet keys create --name nightly --scope marketplace:read --scope marketplace:write --expires-in-days 365',
        'Create a key for imports.',
      ],
    ],
  })
    .option('--name <text>', 'purpose of the key, at most 100 characters', '')
    .requiredOption('--scope <scope>', `${scopes.join(', ')}; repeatable`, toScopes)
    .option('--expires-in-days <days>', 'lifetime; if omitted, the key never expires', wholeNumber(1, 3_650))
    .action(async ({ name, scope, expiresInDays = null, ...options }: NewKey) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      showCreated(valueOf(await inlet.createKey({ name, scopes: [...scope], expires_in_days: expiresInDays })), output);
    });

  partnerCommand(keys, 'rotate', {
    description: 'replace an API key (shown once); the old key keeps working during the overlap',
    examples: [['inlet keys rotate 17 --overlap-hours 72', 'Replace a key within three days.']],
  })
    .argument('<id>', 'key ID')
    .option('--overlap-hours <hours>', 'how long the old key keeps working, up to 168', wholeNumber(0, 168), 24)
    .option('--expires-in-days <days>', "lifetime (default: the old key's lifetime)", wholeNumber(1, 3_650))
    .action(async (text: string, { overlapHours, expiresInDays = null, ...options }: Rotation) => {
      const output = outputFor(options);
      const id = toId('key', text);
      const inlet = await connect(options);
      const times = { overlap_hours: overlapHours, expires_in_days: expiresInDays };
      const made = valueOf(await inlet.rotateKey(id, times));
      showCreated(made, output);
      output.note(`Key ${id} works until ${timeOrDash(made.replaces.expires_at)} (UTC).`);
    });

  partnerCommand(keys, 'revoke', {
    description: 'permanently revoke an API key',
    examples: [['inlet keys revoke 17 --yes', 'Revoke a key without a prompt.']],
  })
    .argument('<id>', 'key ID')
    .option('-y, --yes', 'skip the confirmation')
    .option('--force', 'revoke even the last key that can manage keys')
    .action(async (text: string, options: CommonOptions & { readonly yes?: true; readonly force?: true }) => {
      const output = outputFor(options);
      const id = toId('key', text);
      const inlet = await connect(options);
      const isAgreed = await confirm(`Every request with key ${id} will be rejected. Continue?`, options.yes);
      if (!isAgreed) throw declined('Nothing was revoked.');
      valueOf(await inlet.revokeKey(id, options.force ? { query: { force: 'true' } } : {}));
      output.result({ key_id: id }, () => `key ${id} is revoked`);
    });
}

const storageColumns: readonly Column<StorageKey>[] = [
  { title: 'ACCESS KEY ID', of: ({ access_key_id }) => access_key_id },
  { title: 'CREATED', of: ({ created_at }) => timeOrDash(created_at) },
  { title: 'CREATED BY', of: ({ created_by }) => created_by ?? 'operator' },
  { title: 'EXPIRES', of: ({ expires_at }) => timeOrDash(expires_at) },
];

export function addStorageCommand(program: Command): void {
  const storage = program.command('storage').description('list, rotate, and revoke your storage keys');

  partnerCommand(storage, 'list', {
    description: 'list your storage keys, without their secrets (default)',
    examples: [['inlet storage', 'List the access keys that you use to upload files.']],
    isDefault: true,
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const list = valueOf(await inlet.listStorageKeys());
    output.result(list, () => table(storageColumns, list, output.stdout));
  });

  partnerCommand(storage, 'rotate', {
    description: 'create a storage key (shown once); all others stop working after the overlap',
    examples: [['inlet storage rotate --overlap-hours 72 --json', 'Replace your storage keys within three days.']],
  })
    .option('--overlap-hours <hours>', 'how long the other keys keep working, up to 168', wholeNumber(0, 168), 24)
    .action(async ({ overlapHours, ...options }: CommonOptions & { readonly overlapHours: number }) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const made = valueOf(await inlet.rotateStorageKeys({ overlap_hours: overlapHours }));
      const { access_key_id: id, secret_access_key: secret } = made;
      output.result(made, () => escapeTerminal(`${id} ${secret ?? ''}`));
      output.note(
        secret === null
          ? 'An earlier attempt created this key, but the response was lost. Rotate again.'
          : 'This is the access key ID and its secret. The secret is shown only once.',
      );
    });

  partnerCommand(storage, 'revoke', {
    description: 'permanently revoke a storage key; the others keep working',
    examples: [['inlet storage revoke 7KQ2V4MZJ9T1X5B8N3WD --yes', 'Revoke a storage key without a prompt.']],
  })
    .argument('<access-key-id>', 'access key ID')
    .option('-y, --yes', 'skip the confirmation')
    .action(async (id: string, options: CommonOptions & { readonly yes?: true }) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const question = `The storage will reject every request with key ${escapeTerminal(id)}. Continue?`;
      if (!(await confirm(question, options.yes))) throw declined('Nothing was revoked.');
      valueOf(await inlet.revokeStorageKey(id));
      output.result({ access_key_id: id }, () => escapeTerminal(`storage key ${id} is revoked`));
    });
}

/** The result contains only the key, so that a script can store it. */
function showCreated(made: CreatedApiKey, output: Output): void {
  const { api_key: key, key_id: id } = made;
  output.result(made, () => escapeTerminal(key ?? ''));
  output.note(
    key === null
      ? `Key ${id} was created by an earlier attempt whose response was lost. Revoke it and create another one.`
      : `This is key ${id}. It is shown only once, because Inlet stores only its hash.`,
  );
}

function toScopes(given: string, before: readonly Scope[] = []): readonly Scope[] {
  const scope = scopes.find((one) => one === given);
  if (scope === undefined) throw new InvalidArgumentError(`Use one of ${scopes.join(', ')}.`);
  return [...new Set([...before, scope])];
}
