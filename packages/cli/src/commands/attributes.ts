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
import { type KeyTypeOptions, keyTypeOption, readKeyType } from './arguments.ts';

const columns: readonly Column<Attribute>[] = [
  { title: 'ID', align: 'right', of: ({ attribute_id }) => attribute_id },
  { title: 'NAME', of: ({ name }) => name, canShrink: true },
  { title: 'YOUR KEYS', of: ({ foreign_keys }) => foreign_keys.join(', ') || '-', canShrink: true },
  { title: 'ACCEPTS IMPORTS', of: ({ retired }) => (retired ? 'no: retired' : 'yes') },
];

export function addAttributesCommand(program: Command): void {
  partnerCommand(program, 'attributes', {
    description: 'list your attributes with their IDs and keys',
    examples: [['inlet attributes', 'List the keys that you can use in files.']],
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const attributes = await allAttributes(inlet);
    output.result(attributes, () =>
      attributes.length === 0
        ? 'You have no attributes yet. Ask the operator to create them.'
        : table(columns, attributes, output.stdout),
    );
  });
}

type Options = CommonOptions & KeyTypeOptions & { readonly yes?: true; readonly watch?: true };

export function addDeleteAttributesCommand(program: Command): void {
  partnerCommand(program, 'delete-attributes', {
    description: 'permanently delete all data for the given attributes',
    examples: [
      ['inlet delete-attributes sports travel --key-type foreign', 'Delete two attributes after a confirmation.'],
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
      const isAgreed = await confirm(`This permanently deletes all data of ${what}. Continue?`, options.yes);
      if (!isAgreed) throw declined('Nothing was deleted.');
      const queued = valueOf(await inlet.deleteAttributeData({ key_type, keys }));
      await reportQueued(inlet, queued, { log_type: 1, watch: options.watch === true }, output);
    });
}
