import type { Command } from 'commander';
import { partnerCommand, type CommonOptions } from '../command.ts';
import { connect } from '../connect.ts';
import { declined } from '../failures/cli-failure.ts';
import { valueOf } from '../failures/value-of.ts';
import { followAudience } from '../follow/follow-audience.ts';
import { harmless } from '../terminal/harmless.ts';
import { outputFor } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { addAudienceReads } from './audience-reads.ts';
import { toId } from './to-id.ts';

type Watched = CommonOptions & { readonly watch?: true };

export function addAudienceCommand(program: Command): void {
  const audience = program
    .command('audience')
    .description('audiences, your own or of the customer in INLET_USER_TOKEN: create, append, clear, show, list');

  partnerCommand(audience, 'create', {
    description: 'make an audience from a file, or from every file under a prefix',
    examples: [['inlet audience create Summer acme/summer/ --watch', 'Make it and wait until it is loaded.']],
  })
    .argument('<name>', 'of the audience')
    .argument('<path>', 'below your prefix; a prefix ends with /')
    .option('--watch', 'wait until it is loaded; ends with 1 if a file failed')
    .option('--idempotency-key <key>', 'asked again with the same key within a day, it is not done again')
    .action(async (name: string, path: string, options: Watched & { readonly idempotencyKey?: string }) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const { idempotencyKey } = options;
      const made = valueOf(await inlet.createAudience({ name, file_path: path }, { idempotencyKey }));
      const { audience_id: id, default_warehouse_segment_id: segment } = made;
      const text = harmless(`audience ${id} is made; its segment is ${segment}`);
      if (options.watch) {
        output.note(text);
        return followAudience(inlet, id, output);
      }
      output.result(made, () => text);
      output.note(`Follow it: inlet audience show ${id} --watch`);
    });

  partnerCommand(audience, 'append', {
    description: 'load more files into an audience; what is loaded already is ignored',
    examples: [['inlet audience append 3 acme/summer/august.csv --watch', 'One more file.']],
  })
    .argument('<id>', 'of the audience')
    .argument('<path>', 'below your prefix; a prefix ends with /')
    .option('--watch', 'wait until it is loaded; ends with 1 if a file failed')
    .action(async (text: string, path: string, options: Watched) => {
      const output = outputFor(options);
      const id = toId('audience', text);
      const inlet = await connect(options);
      valueOf(await inlet.appendFiles(id, { file_path: path }));
      if (options.watch) return followAudience(inlet, id, output);
      const queued = harmless(`the files of ${JSON.stringify(path)} are queued for audience ${id}`);
      output.result({ audience_id: id }, () => queued);
      output.note(`Follow it: inlet audience show ${id} --watch`);
    });

  partnerCommand(audience, 'clear', {
    description: 'take all devices out of an audience, and cancel what is loading',
    examples: [['inlet audience clear 3 --yes', 'In a script.']],
  })
    .argument('<id>', 'of the audience')
    .option('-y, --yes', 'do not ask')
    .action(async (text: string, options: CommonOptions & { readonly yes?: true }) => {
      const output = outputFor(options);
      const id = toId('audience', text);
      const inlet = await connect(options);
      const isAgreed = await confirm(`All devices of audience ${id} are taken out of it. Go on?`, options.yes);
      if (!isAgreed) throw declined('Nothing was cleared.');
      valueOf(await inlet.clearAudience(id));
      output.result({ audience_id: id }, () => `audience ${id} is cleared`);
    });

  addAudienceReads(audience);
}
