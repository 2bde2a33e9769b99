import type { Command } from 'commander';
import type { Attribute } from '../../domain/attribute.ts';
import {
  createAttribute,
  listAttributes,
  renameAttribute,
  retireAttribute,
  tieForeignKeys,
} from '../../usecases/admin/manage-partners.ts';
import { print, printJson, parseId } from './output.ts';
import { withWiring } from './with-wiring.ts';

type OfPartner = { readonly partner: string };

export function addAttributeCommands(program: Command): void {
  const attribute = program.command('attribute').description("manage partners' attributes");
  const command = (name: string, description: string): Command =>
    attribute.command(name).description(description).requiredOption('--partner <name>', 'name of the partner');

  command('create', 'create an attribute')
    .requiredOption('--name <name>', 'name of the attribute')
    .option(
      '--foreign-key <key...>',
      "the partner's own key for the attribute, used in files with key_type 1; repeatable",
    )
    .action(({ partner, name, foreignKey = [] }: OfPartner & { name: string; foreignKey?: string[] }) =>
      withWiring(async (deps) =>
        printJson(record(await createAttribute(deps, partner, { name, foreignKeys: foreignKey }))),
      ),
    );

  command('list', "list a partner's attributes").action(({ partner }: OfPartner) =>
    withWiring(async (deps) => printJson((await listAttributes(deps, partner)).map(record))),
  );

  command('rename', 'rename an attribute')
    .argument('<attribute-id>')
    .requiredOption('--name <name>', 'the new name')
    .action((id: string, { partner, name }: OfPartner & { name: string }) =>
      withWiring(async (deps) => {
        await renameAttribute(deps, partner, parseId('attribute', id), name);
        print(`renamed attribute ${id} to "${name}"`);
      }),
    );

  command('retire', 'stop accepting imports for an attribute (existing data stays until it is deleted)')
    .argument('<attribute-id>')
    .action((id: string, { partner }: OfPartner) =>
      withWiring(async (deps) => {
        await retireAttribute(deps, partner, parseId('attribute', id));
        print(`retired attribute ${id}`);
      }),
    );

  command('tie', 'assign foreign keys to an attribute, replacing earlier assignments of these keys')
    .argument('<attribute-id>')
    .argument('<foreign-key...>')
    .action((id: string, keys: string[], { partner }: OfPartner) =>
      withWiring(async (deps) => {
        await tieForeignKeys(deps, partner, parseId('attribute', id), keys);
        print(`assigned ${keys.join(', ')} to attribute ${id}`);
      }),
    );
}

function record({ id, name, foreignKeys, isRetired }: Attribute): object {
  return { attribute_id: id, name, foreign_keys: foreignKeys, retired: isRetired };
}
