import type { Audience, AudienceDetails, AudienceFile } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { declined } from '../failures/cli-failure.ts';
import { describeAudience, followAudience } from '../follow/follow-audience.ts';
import { countOf, several, statusPaint, statusWord, timeOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { type Column, fieldList, table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { toId, wholeNumber } from './arguments.ts';

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
      const text = escapeTerminal(`audience ${id} is made; its segment is ${segment}`);
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
      const queued = escapeTerminal(`the files of ${JSON.stringify(path)} are queued for audience ${id}`);
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

const shownFiles = 50;

const columns: readonly Column<Audience>[] = [
  { title: 'ID', align: 'right', of: ({ audience_id }) => audience_id },
  { title: 'STATUS', of: statusWord, paint: statusPaint },
  { title: 'NAME', of: ({ name }) => name, canShrink: true },
  { title: 'DEVICES', align: 'right', of: ({ unique_devices }) => countOf(unique_devices) },
  { title: 'MATCHED', align: 'right', of: ({ matched_devices }) => countOf(matched_devices) },
  { title: 'SEGMENT', align: 'right', of: ({ default_warehouse_segment_id }) => default_warehouse_segment_id },
  { title: 'UPDATED (UTC)', of: ({ updated_at }) => timeOf(updated_at) },
];

const fileColumns: readonly Column<AudienceFile>[] = [
  { title: 'FILE', of: ({ s3_path }) => s3_path, canShrink: true },
  { title: 'STATUS', of: statusWord, paint: statusPaint },
  { title: 'ROWS', align: 'right', of: ({ rows_uploaded }) => countOf(rows_uploaded) },
  { title: 'UPDATED (UTC)', of: ({ updated_at }) => timeOf(updated_at) },
];

/** What changes nothing. */
function addAudienceReads(audience: Command): void {
  partnerCommand(audience, 'show', {
    description: 'one audience with its files; --watch waits until none is loading',
    examples: [['inlet audience show 3', 'Counts and files.']],
  })
    .argument('<id>', 'of the audience')
    .option('--watch', 'wait until it is loaded; ends with 1 if a file failed')
    .action(async (text: string, options: CommonOptions & { readonly watch?: true }) => {
      const output = outputFor(options);
      const id = toId('audience', text);
      const inlet = await connect(options);
      if (options.watch) return followAudience(inlet, id, output);
      const record = valueOf(await inlet.getAudience(id));
      output.result(record, () => pageOf(record, output.stdout));
      const more = record.file.length - shownFiles;
      if (more > 0) output.note(`${several(more, 'file')} more: --json has all of them`);
      if (record.status === 3) output.note(`What went wrong: inlet errors ${id} --audience`);
    });

  partnerCommand(audience, 'list', {
    description: 'the audiences, newest first',
    examples: [['inlet audience list', 'The newest fifty.']],
  })
    .option('--limit <number>', 'at most so many, up to 1000', wholeNumber(1, 1000), 50)
    .action(async (options: CommonOptions & { readonly limit: number }) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const answered = await inlet.listAudiences({ query: { limit: options.limit } });
      const audiences = valueOf(answered);
      output.result(audiences, () =>
        audiences.length === 0 ? 'There is no audience yet.' : table(columns, audiences, output.stdout),
      );
      if (answered.ok && answered.answer.next !== null) output.note('There are more: give a greater --limit');
    });
}

function pageOf(record: AudienceDetails, stream: NodeJS.WriteStream): string {
  const fields = fieldList(
    [
      ['audience', describeAudience(record)],
      ['name', record.name],
      ['devices', countOf(record.unique_devices)],
      ['matched', countOf(record.matched_devices)],
      ['uploaded', countOf(record.uploaded_devices)],
      ['segment', String(record.default_warehouse_segment_id)],
      ['created', timeOf(record.created_at)],
      ['updated', timeOf(record.updated_at)],
    ],
    stream,
  );
  const files = record.file.slice(0, shownFiles);
  return files.length === 0 ? fields : `${fields}\n\n${table(fileColumns, files, stream)}`;
}
