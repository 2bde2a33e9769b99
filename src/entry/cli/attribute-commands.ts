import { type Column, escapeTerminal, outputFor } from '@inlet/cli';
import type { Command } from 'commander';
import type { Attribute } from '../../domain/attribute.ts';
import {
  createAttribute,
  listAttributes,
  renameAttribute,
  retireAttribute,
  tieForeignKeys,
} from '../../usecases/admin/manage-partners.ts';
import { type OutputOptions, operatorCommand, parseId, printList } from './output.ts';
import { withWiring } from './with-wiring.ts';

type OfPartner = OutputOptions & { readonly partner: string };

const columns: readonly Column<ReturnType<typeof record>>[] = [
  { title: 'ID', align: 'right', of: ({ attribute_id }) => attribute_id },
  { title: 'NAME', of: ({ name }) => name, canShrink: true },
  { title: 'STATE', of: ({ retired }) => (retired ? 'retired' : 'active') },
  { title: 'FOREIGN KEYS', of: ({ foreign_keys }) => foreign_keys.join(', ') || '-', canShrink: true },
];

export function addAttributeCommands(program: Command): void {
  const attribute = program.command('attribute').description("manage partners' attributes");
  const command = (name: string, description: string): Command =>
    operatorCommand(attribute, name, description).requiredOption('--partner <name>', 'name of the partner');

  command('create', 'create an attribute')
    .requiredOption('--name <name>', 'name of the attribute')
    .option(
      '--foreign-key <key...>',
      "the partner's own key for the attribute, used in files with key type `foreign`; repeatable",
    )
    .action(({ partner, name, foreignKey = [], ...options }: OfPartner & { name: string; foreignKey?: string[] }) =>
      withWiring(async (deps) => {
        const made = record(await createAttribute(deps, partner, { name, foreignKeys: foreignKey }));
        outputFor(options).result(made, () => `attribute ${made.attribute_id} is created`);
      }),
    );

  command('list', "list a partner's attributes").action(({ partner, ...options }: OfPartner) =>
    withWiring(async (deps) => {
      const attributes = (await listAttributes(deps, partner)).map(record);
      printList(outputFor(options), columns, attributes, 'The partner has no attributes.');
    }),
  );

  command('rename', 'rename an attribute')
    .argument('<attribute-id>')
    .requiredOption('--name <name>', 'the new name')
    .action((text: string, { partner, name, ...options }: OfPartner & { name: string }) =>
      withWiring(async (deps) => {
        const id = parseId('attribute', text);
        await renameAttribute(deps, partner, id, name);
        outputFor(options).result({ attribute_id: id, name }, () =>
          escapeTerminal(`attribute ${id} is now named "${name}"`),
        );
      }),
    );

  command('retire', 'stop accepting imports for an attribute (existing data stays until it is deleted)')
    .argument('<attribute-id>')
    .action((text: string, { partner, ...options }: OfPartner) =>
      withWiring(async (deps) => {
        const id = parseId('attribute', text);
        await retireAttribute(deps, partner, id);
        outputFor(options).result({ attribute_id: id, retired: true }, () => `attribute ${id} is retired`);
      }),
    );

  command('tie', 'assign foreign keys to an attribute, replacing earlier assignments of these keys')
    .argument('<attribute-id>')
    .argument('<foreign-key...>')
    .action((text: string, keys: string[], { partner, ...options }: OfPartner) =>
      withWiring(async (deps) => {
        const id = parseId('attribute', text);
        await tieForeignKeys(deps, partner, id, keys);
        outputFor(options).result({ attribute_id: id, foreign_keys: keys }, () =>
          escapeTerminal(`${keys.join(', ')} ${keys.length === 1 ? 'is' : 'are'} assigned to attribute ${id}`),
        );
      }),
    );
}

function record({ id, name, foreignKeys, isRetired }: Attribute) {
  return { attribute_id: id, name, foreign_keys: foreignKeys, retired: isRetired };
}
