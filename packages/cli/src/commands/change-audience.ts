import type { AudienceHistoryEntry } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { declined } from '../failures/cli-failure.ts';
import { stateOf } from '../follow/describe-import.ts';
import { followAudience } from '../follow/follow-audience.ts';
import { countOf, statusPaint, timeOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { type Column, table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { toId, wholeNumber } from './arguments.ts';

const idArgument = ['<id>', 'audience ID'] as const;
const appendArgument = ['<append>', 'append ID, as shown by `inlet audience history`'] as const;

export function addChangeAudienceCommands(audience: Command): void {
  partnerCommand(audience, 'rename', {
    description: 'change the name of an audience',
    examples: [['inlet audience rename 3 "Summer 2026"', 'Rename audience 3.']],
  })
    .argument(...idArgument)
    .argument('<name>', 'new name')
    .action(async (text: string, name: string, options: CommonOptions) => {
      const output = outputFor(options);
      const id = toId('audience', text);
      const inlet = await connect(options);
      valueOf(await inlet.renameAudience(id, name));
      output.result({ audience_id: id, name }, () => escapeTerminal(`audience ${id} is now ${JSON.stringify(name)}`));
    });

  partnerCommand(audience, 'delete', {
    description: 'permanently delete an audience with its devices, reports, and history',
    examples: [['inlet audience delete 3 --yes', 'Delete an audience without a prompt.']],
  })
    .argument(...idArgument)
    .option('-y, --yes', 'skip the confirmation')
    .action(async (text: string, options: CommonOptions & { readonly yes?: true }) => {
      const output = outputFor(options);
      const id = toId('audience', text);
      const inlet = await connect(options);
      const question = `This permanently deletes audience ${id} with its devices and reports, and cancels its loads. Continue?`;
      if (!(await confirm(question, options.yes))) throw declined('Nothing was deleted.');
      valueOf(await inlet.deleteAudience(id));
      output.result({ audience_id: id }, () => `audience ${id} is deleted`);
    });

  partnerCommand(audience, 'dismiss', {
    description: 'ignore a failed file, so that it no longer affects the status of the audience',
    examples: [['inlet audience dismiss 3 71', 'Dismiss failed file 71 of audience 3.']],
  })
    .argument(...idArgument)
    .argument('<file>', 'file ID, as shown by `inlet audience show`')
    .action(async (text: string, file: string, options: CommonOptions) => {
      const output = outputFor(options);
      const id = toId('audience', text);
      const inlet = await connect(options);
      valueOf(await inlet.dismissFile(id, file));
      output.result({ audience_id: id, file_id: file }, () => escapeTerminal(`file ${file} is dismissed`));
    });

  partnerCommand(audience, 'history', {
    description: 'list the appends and clears of an audience, newest first',
    examples: [['inlet audience history 3', 'Show what was appended and by whom.']],
  })
    .argument(...idArgument)
    .option('--limit <number>', 'maximum number of entries, up to 100', wholeNumber(1, 100), 20)
    .action(async (text: string, options: CommonOptions & { readonly limit: number }) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const listed = await inlet.listAudienceHistory(toId('audience', text), { query: { limit: options.limit } });
      const entries = valueOf(listed);
      output.result(entries, () =>
        entries.length === 0 ? 'There is no history.' : table(columns, entries, output.stdout),
      );
      if (listed.ok && listed.answer.next !== null) output.note('There are more entries. Use a higher --limit.');
    });

  partnerCommand(audience, 'cancel', {
    description: 'cancel an append that is waiting or running',
    examples: [['inlet audience cancel 3 12', 'Cancel append 12. Files that have already been read are still loaded.']],
  })
    .argument(...idArgument)
    .argument(...appendArgument)
    .action(async (text: string, append: string, options: CommonOptions) => {
      const output = outputFor(options);
      const [id, appendId] = [toId('audience', text), toId('append', append)];
      const inlet = await connect(options);
      valueOf(await inlet.cancelAppend(id, appendId));
      output.result({ audience_id: id, append_id: appendId }, () => `append ${appendId} is canceled`);
      output.note(`See which files were loaded: inlet audience show ${id}`);
    });

  partnerCommand(audience, 'retry', {
    description: 'queue a failed or canceled append again',
    examples: [['inlet audience retry 3 12 --failed-only --watch', 'Load the failed files and wait for completion.']],
  })
    .argument(...idArgument)
    .argument(...appendArgument)
    .option('--failed-only', 'load only the files that failed or were canceled')
    .option('--watch', 'wait for completion; exit with code 1 on any failure')
    .action(
      async (
        text: string,
        append: string,
        options: CommonOptions & { readonly failedOnly?: true; readonly watch?: true },
      ) => {
        const output = outputFor(options);
        const [id, appendId] = [toId('audience', text), toId('append', append)];
        const inlet = await connect(options);
        const queued = valueOf(await inlet.retryAppend(id, appendId, options.failedOnly ? { files: 'failed' } : {}));
        const summary = `append ${queued.append_id} repeats append ${appendId}`;
        if (options.watch) {
          output.note(summary);
          return followAudience(inlet, id, output);
        }
        output.result(queued, () => summary);
        output.note(`Follow it with: inlet audience show ${id} --watch`);
      },
    );
}

const columns: readonly Column<AudienceHistoryEntry>[] = [
  { title: 'APPEND', align: 'right', of: ({ append }) => append?.append_id ?? '' },
  { title: 'AT (UTC)', of: ({ at }) => timeOf(at) },
  { title: 'BY', of: ({ by }) => by ?? '' },
  { title: 'PATH', of: ({ append }) => append?.file_path ?? '(clear)', canShrink: true },
  {
    title: 'STATUS',
    of: ({ append }) => (append ? stateOf(append) : ''),
    paint: ({ append }) => (append ? statusPaint(append) : undefined),
  },
  {
    title: 'LOADED',
    align: 'right',
    of: ({ append }) => (append?.files ? `${countOf(append.files.loaded)}/${countOf(append.files.all)}` : ''),
  },
  { title: 'ROWS', align: 'right', of: ({ append }) => (append ? countOf(append.rows_uploaded) : '') },
];
