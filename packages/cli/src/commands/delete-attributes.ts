import type { Command } from 'commander';
import { partnerCommand, type CommonOptions } from '../command.ts';
import { connect } from '../connect.ts';
import { declined } from '../failures/cli-failure.ts';
import { valueOf } from '../failures/value-of.ts';
import { nameOfJob } from '../follow/describe-import.ts';
import { followImport } from '../follow/follow-import.ts';
import { harmless } from '../terminal/harmless.ts';
import { several } from '../terminal/numbers.ts';
import { outputFor } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { keyTypeOption, readKeyType, type KeyTypeOptions } from './key-type.ts';

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
      const what = `${several(keys.length, 'attribute')} (${keys.map(harmless).join(', ')})`;
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
