import type { Attribute } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { allAttributes, connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { declined } from '../failures/cli-failure.ts';
import { reportQueued } from '../follow/follow-import.ts';
import { several } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { type Column, table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { type KeyTypeOptions, keyTypeOption, readKeyType, toId } from './arguments.ts';

const columns: readonly Column<Attribute>[] = [
  { title: 'ID', align: 'right', of: ({ attribute_id }) => attribute_id },
  { title: 'NAME', of: ({ name }) => name, canShrink: true },
  { title: 'YOUR KEYS', of: ({ foreign_keys }) => foreign_keys.join(', ') || '-', canShrink: true },
  { title: 'ACCEPTS IMPORTS', of: ({ retired }) => (retired ? 'no: retired' : 'yes') },
];

export function addAttributesCommand(program: Command): void {
  const attributes = program.command('attributes').description('list and manage your attributes');

  partnerCommand(attributes, 'list', {
    description: 'list your attributes with their IDs and keys (default)',
    examples: [['inlet attributes', 'List the keys that you can use in files.']],
    isDefault: true,
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const list = await allAttributes(inlet);
    output.result(list, () =>
      list.length === 0
        ? 'You have no attributes yet. Create one: inlet attributes create <name>'
        : table(columns, list, output.stdout),
    );
  });

  partnerCommand(attributes, 'create', {
    description: 'create an attribute',
    examples: [['inlet attributes create sports --key sports', 'Create an attribute with one of your own keys.']],
  })
    .argument('<name>', 'unique name, 1 to 100 characters')
    .option('--key <key...>', 'your own keys for the attribute, used in files instead of its ID')
    .action(async (name: string, { key = [], ...options }: CommonOptions & { readonly key?: readonly string[] }) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const made = valueOf(await inlet.createAttribute({ name, foreign_keys: key }));
      output.result(made, () => escapeTerminal(`attribute ${made.attribute_id} "${made.name}" is created`));
    });

  partnerCommand(attributes, 'rename', {
    description: 'rename an attribute',
    examples: [
      ['inlet attributes rename 1001 "outdoor sports"', 'Change the name. The ID and the data stay the same.'],
    ],
  })
    .argument('<id>', 'attribute ID')
    .argument('<name>', 'unique name, 1 to 100 characters')
    .action(async (text: string, name: string, options: CommonOptions) => {
      const id = toId('attribute', text);
      const inlet = await connect(options);
      showChanged(valueOf(await inlet.renameAttribute(id, { name })), options);
    });

  partnerCommand(attributes, 'retire', {
    description: 'permanently stop imports for an attribute; its data is kept until you delete it',
    examples: [['inlet attributes retire 1001 --yes', 'Retire an attribute without a prompt.']],
  })
    .argument('<id>', 'attribute ID')
    .option('-y, --yes', 'skip the confirmation')
    .action(async (text: string, options: CommonOptions & { readonly yes?: true }) => {
      const id = toId('attribute', text);
      const inlet = await connect(options);
      const isAgreed = await confirm(`Attribute ${id} can never accept imports again. Continue?`, options.yes);
      if (!isAgreed) throw declined('Nothing was retired.');
      showChanged(valueOf(await inlet.retireAttribute(id)), options);
    });

  partnerCommand(attributes, 'tie', {
    description: 'add your own keys to an attribute; keys of another attribute are moved',
    examples: [['inlet attributes tie 1001 football soccer', 'Add two keys to an attribute.']],
  })
    .argument('<id>', 'attribute ID')
    .argument('<keys...>', 'your own keys')
    .action(async (text: string, keys: string[], options: CommonOptions) => {
      const id = toId('attribute', text);
      const inlet = await connect(options);
      showChanged(valueOf(await inlet.tieForeignKeys(id, { foreign_keys: keys })), options);
    });

  partnerCommand(attributes, 'untie', {
    description: 'remove your own keys from an attribute',
    examples: [['inlet attributes untie 1001 soccer', 'Remove a key. Later imports reject rows with it.']],
  })
    .argument('<id>', 'attribute ID')
    .argument('<keys...>', 'your own keys')
    .action(async (text: string, keys: string[], options: CommonOptions) => {
      const id = toId('attribute', text);
      const inlet = await connect(options);
      showChanged(valueOf(await inlet.untieForeignKeys(id, { foreign_keys: keys })), options);
    });
}

function showChanged(attribute: Attribute, options: CommonOptions): void {
  const output = outputFor(options);
  output.result(attribute, () => table(columns, [attribute], output.stdout));
}

type Options = CommonOptions & KeyTypeOptions & { readonly yes?: true; readonly watch?: true };

export function addDeleteAttributesCommand(program: Command): void {
  partnerCommand(program, 'delete-attributes', {
    description: 'permanently delete all data for the given attributes',
    examples: [
      [
        'inlet delete-attributes sports travel --key-type foreign',
        'Delete two attributes after asking for confirmation.',
      ],
      [
        'inlet delete-attributes 17 --key-type attribute --yes --watch',
        'Delete one attribute without a prompt and wait for completion.',
      ],
    ],
  })
    .argument('<keys...>', 'attribute IDs or foreign keys, depending on --key-type')
    .addOption(keyTypeOption())
    .option('-y, --yes', 'skip the confirmation')
    .option('--watch', 'wait for completion; exit with code 1 on any failure')
    .action(async (keys: string[], options: Options) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const key_type = await readKeyType(options);
      const what = `${several(keys.length, 'attribute')} (${keys.map(escapeTerminal).join(', ')})`;
      const isAgreed = await confirm(`This permanently deletes all data for ${what}. Continue?`, options.yes);
      if (!isAgreed) throw declined('Nothing was deleted.');
      const queued = valueOf(await inlet.deleteAttributeData({ key_type, keys }));
      await reportQueued(inlet, queued, { log_type: 1, watch: options.watch === true }, output);
    });
}
