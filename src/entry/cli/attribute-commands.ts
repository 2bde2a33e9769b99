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
  const attribute = program.command('attribute').description('what can be said of a device');
  const command = (name: string, description: string): Command =>
    attribute.command(name).description(description).requiredOption('--partner <name>', 'whose attribute it is');

  command('create', 'make an attribute of a partner')
    .requiredOption('--name <name>', 'its name')
    .option('--foreign-key <key...>', 'what the partner calls it in files with key_type 1')
    .action(({ partner, name, foreignKey = [] }: OfPartner & { name: string; foreignKey?: string[] }) =>
      withWiring(async (deps) =>
        printJson(record(await createAttribute(deps, partner, { name, foreignKeys: foreignKey }))),
      ),
    );

  command('list', 'show the attributes of a partner').action(({ partner }: OfPartner) =>
    withWiring(async (deps) => printJson((await listAttributes(deps, partner)).map(record))),
  );

  command('rename', 'give an attribute another name')
    .argument('<attribute-id>')
    .requiredOption('--name <name>', 'the new name')
    .action((id: string, { partner, name }: OfPartner & { name: string }) =>
      withWiring(async (deps) => {
        await renameAttribute(deps, partner, parseId('attribute', id), name);
        print(`attribute ${id} is now called "${name}"`);
      }),
    );

  command('retire', 'take no more imports for an attribute; its data stays until it is deleted')
    .argument('<attribute-id>')
    .action((id: string, { partner }: OfPartner) =>
      withWiring(async (deps) => {
        await retireAttribute(deps, partner, parseId('attribute', id));
        print(`attribute ${id} is retired`);
      }),
    );

  command('tie', 'let foreign keys mean an attribute; a key that meant another moves')
    .argument('<attribute-id>')
    .argument('<foreign-key...>')
    .action((id: string, keys: string[], { partner }: OfPartner) =>
      withWiring(async (deps) => {
        await tieForeignKeys(deps, partner, parseId('attribute', id), keys);
        print(`${keys.join(', ')} ${keys.length === 1 ? 'means' : 'mean'} attribute ${id}`);
      }),
    );
}

function record({ id, name, foreignKeys, isRetired }: Attribute): object {
  return { attribute_id: id, name, foreign_keys: foreignKeys, retired: isRetired };
}
