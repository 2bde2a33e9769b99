import type { Audience, AudienceDetails, AudienceFile } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { declined } from '../failures/cli-failure.ts';
import { describeAudience, followAudience } from '../follow/follow-audience.ts';
import { withReasons } from '../follow/follow-import.ts';
import { countOf, several, statusPaint, statusWord, timeOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { type Column, fieldList, table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { toId, wholeNumber } from './arguments.ts';
import { addAudienceReports } from './audience-reports.ts';
import { type ListFilters, filterQuery, withListFilters } from './list-filters.ts';
import { addChangeAudienceCommands } from './change-audience.ts';

type Watched = CommonOptions & { readonly watch?: true };

export function addAudienceCommand(program: Command): void {
  const audience = program
    .command('audience')
    .description('manage your audiences or, with INLET_USER_TOKEN, those of a customer');

  partnerCommand(audience, 'create', {
    description: 'create an audience from a file or from all files under a prefix',
    examples: [['inlet audience create Summer acme/summer/ --watch', 'Create an audience and wait for completion.']],
  })
    .argument('<name>', 'name of the audience')
    .argument('<path>', 'path relative to your prefix; a prefix ends with /')
    .option('--watch', 'wait for completion; exit with code 1 on any failure')
    .option('--idempotency-key <key>', 'make the request safe to repeat for a day')
    .action(async (name: string, path: string, options: Watched & { readonly idempotencyKey?: string }) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const { idempotencyKey } = options;
      const made = valueOf(await inlet.createAudience({ name, file_path: path }, { idempotencyKey }));
      const { audience_id: id, default_warehouse_segment_id: segment } = made;
      const text = escapeTerminal(`audience ${id} created with segment ${segment}`);
      if (options.watch) {
        output.note(text);
        return followAudience(inlet, id, output);
      }
      output.result(made, () => text);
      output.note(`Follow it with: inlet audience show ${id} --watch`);
    });

  partnerCommand(audience, 'append', {
    description: 'load more files into an audience (files that are already loaded are ignored)',
    examples: [['inlet audience append 3 acme/summer/august.csv --watch', 'Append one file and wait for completion.']],
  })
    .argument('<id>', 'audience ID')
    .argument('<path>', 'path relative to your prefix; a prefix ends with /')
    .option('--watch', 'wait for completion; exit with code 1 on any failure')
    .action(async (text: string, path: string, options: Watched) => {
      const output = outputFor(options);
      const id = toId('audience', text);
      const inlet = await connect(options);
      valueOf(await inlet.appendFiles(id, { file_path: path }));
      if (options.watch) return followAudience(inlet, id, output);
      const queued = escapeTerminal(`${JSON.stringify(path)} is queued for audience ${id}`);
      output.result({ audience_id: id }, () => queued);
      output.note(`Follow it with: inlet audience show ${id} --watch`);
    });

  partnerCommand(audience, 'clear', {
    description: 'remove all devices from an audience and cancel its loads',
    examples: [['inlet audience clear 3 --yes', 'Clear an audience without a prompt.']],
  })
    .argument('<id>', 'audience ID')
    .option('-y, --yes', 'skip the confirmation')
    .action(async (text: string, options: CommonOptions & { readonly yes?: true }) => {
      const output = outputFor(options);
      const id = toId('audience', text);
      const inlet = await connect(options);
      const isAgreed = await confirm(`This removes all devices from audience ${id}. Continue?`, options.yes);
      if (!isAgreed) throw declined('Nothing was cleared.');
      valueOf(await inlet.clearAudience(id));
      output.result({ audience_id: id }, () => `audience ${id} is cleared`);
    });

  addChangeAudienceCommands(audience);
  addAudienceReads(audience);
  addAudienceReports(audience);
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

const withCustomer: readonly Column<Audience>[] = [
  ...columns.slice(0, 3),
  { title: 'CUSTOMER', of: ({ customer }) => customer ?? '' },
  ...columns.slice(3),
];

const fileColumns: readonly Column<AudienceFile>[] = [
  { title: 'ID', of: ({ file_id }) => file_id },
  { title: 'FILE', of: ({ s3_path }) => s3_path, canShrink: true },
  { title: 'STATUS', of: statusWord, paint: statusPaint },
  { title: 'ROWS', align: 'right', of: ({ rows_uploaded }) => countOf(rows_uploaded) },
  { title: 'UPDATED (UTC)', of: ({ updated_at }) => timeOf(updated_at) },
];

function addAudienceReads(audience: Command): void {
  partnerCommand(audience, 'show', {
    description: 'show an audience and its files',
    examples: [['inlet audience show 3', 'Show the counts and files.']],
  })
    .argument('<id>', 'audience ID')
    .option('--watch', 'wait for completion; exit with code 1 on any failure')
    .action(async (text: string, options: CommonOptions & { readonly watch?: true }) => {
      const output = outputFor(options);
      const id = toId('audience', text);
      const inlet = await connect(options);
      if (options.watch) return followAudience(inlet, id, output);
      const record = valueOf(await inlet.getAudience(id));
      output.result(record, () => pageOf(record, output.stdout));
      const more = record.total_files - shownFiles;
      if (more > 0) output.note(`${several(more, 'more file')} not shown. Use --json to list up to 1,000 files.`);
      if (record.status === 3) {
        output.note(`List the errors: inlet errors ${id} --audience`);
        output.note(`Ignore a failed file: inlet audience dismiss ${id} <file>`);
      }
    });

  const list = partnerCommand(audience, 'list', {
    description: 'list audiences, newest first',
    examples: [
      ['inlet audience list', 'List the 50 newest audiences.'],
      ["inlet audience list --customer '*'", 'List your own audiences and those of all your customers.'],
      ['inlet audience list --status failed --name summer', 'List the failed audiences with "summer" in their name.'],
    ],
  })
    .option('--customer <name>', "list this customer's audiences; * lists your own and those of all your customers")
    .option('--limit <number>', 'maximum number of audiences, up to 1000', wholeNumber(1, 1000), 50)
    .option('--name <text>', 'list only audiences whose name contains this text');
  withListFilters(list).action(
    async (
      options: CommonOptions &
        ListFilters & { readonly limit: number; readonly customer?: string; readonly name?: string },
    ) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const { limit, customer, name } = options;
      const query = { limit, customer, name, ...filterQuery(options) };
      const isFiltered = Object.entries(query).some(([key, value]) => key !== 'limit' && value !== undefined);
      const listed = await inlet.listAudiences({ query });
      const audiences = valueOf(listed);
      output.result(audiences, () =>
        audiences.length === 0
          ? isFiltered
            ? 'No audiences match.'
            : 'There are no audiences yet.'
          : table(customer === undefined ? columns : withCustomer, audiences, output.stdout),
      );
      if (listed.ok && listed.answer.next !== null) output.note('There are more audiences. Use a higher --limit.');
    },
  );
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
  const listed = files.length === 0 ? fields : `${fields}\n\n${table(fileColumns, files, stream)}`;
  return withReasons(listed, record, stream);
}
