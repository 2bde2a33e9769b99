import type { Command } from 'commander';
import type { Attribute } from '@inlet/sdk';
import { allAttributes } from '../all-attributes.ts';
import { partnerCommand, type CommonOptions } from '../command.ts';
import { connect } from '../connect.ts';
import { outputFor } from '../terminal/output.ts';
import { table, type Column } from '../terminal/table.ts';

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
