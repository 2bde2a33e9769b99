import type { Attribute } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { allAttributes, connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { declined } from '../failures/cli-failure.ts';
import { nameOfJob } from '../follow/describe-import.ts';
import { followImport } from '../follow/follow-import.ts';
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
  { title: 'TAKES IMPORTS', of: ({ retired }) => (retired ? 'no: retired' : 'yes') },
];

export function addAttributesCommand(program: Command): void {
  partnerCommand(program, 'attributes', {
    description: 'your attributes, their ids and the keys that you call them by',
    examples: [['inlet attributes', 'What may stand in the keys column of a file.']],
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const attributes = await allAttributes(inlet);
    output.result(attributes, () =>
      attributes.length === 0
        ? 'You have no attributes yet: ask the operator.'
        : table(columns, attributes, output.stdout),
    );
  });
}

type Options = CommonOptions & KeyTypeOptions & { readonly yes?: true; readonly watch?: true };

export function addDeleteAttributesCommand(program: Command): void {
  partnerCommand(program, 'delete-attributes', {
    description: 'delete all data of attributes, for good',
    examples: [
      ['inlet delete-attributes sports travel --key-type foreign', 'Asks before it does.'],
      ['inlet delete-attributes 17 --key-type attribute --yes --watch', 'In a script.'],
    ],
  })
    .argument('<keys...>', 'the attributes, as --key-type says')
    .addOption(keyTypeOption())
    .option('-y, --yes', 'do not ask')
    .option('--watch', 'follow it to its end; ends with 1 if it failed')
    .action(async (keys: string[], options: Options) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const key_type = await readKeyType(options);
      const what = `${several(keys.length, 'attribute')} (${keys.map(escapeTerminal).join(', ')})`;
      const isAgreed = await confirm(`All data of ${what} is deleted for good. Go on?`, options.yes);
      if (!isAgreed) throw declined('Nothing was deleted.');
      const queued = valueOf(await inlet.deleteAttributeData({ key_type, keys }));
      const { import_log_id: id } = queued;
      const text = `${nameOfJob({ import_log_id: id, log_type: 1 })} is queued`;
      if (options.watch) {
        output.note(text);
        await followImport(inlet, id, output);
        return;
      }
      output.result(queued, () => text);
      output.note(`Follow it: inlet imports ${id} --watch`);
    });
}
