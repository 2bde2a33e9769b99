import type { Command } from 'commander';
import type { Audience, AudienceDetails, AudienceFile } from '@inlet/sdk';
import { partnerCommand, type CommonOptions } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/value-of.ts';
import { describeAudience, followAudience } from '../follow/follow-audience.ts';
import { fieldList } from '../terminal/field-list.ts';
import { countOf, several, timeOf } from '../terminal/numbers.ts';
import { outputFor } from '../terminal/output.ts';
import { statusPaint, statusWord } from '../terminal/status.ts';
import { table, type Column } from '../terminal/table.ts';
import { toId } from './to-id.ts';
import { wholeNumber } from './whole-number.ts';

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
export function addAudienceReads(audience: Command): void {
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
