import type { ImportLog } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { describeImport, importTable, rejectedRows, subjectOf } from '../follow/describe-import.ts';
import { failureOfJob, followImport } from '../follow/follow-import.ts';
import { watchImports } from '../follow/watch-imports.ts';
import { countOf, timeOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { fieldList } from '../terminal/table.ts';
import { toId, wholeNumber } from './arguments.ts';

type Options = CommonOptions & { readonly watch?: true; readonly limit: number };

export function addImportsCommand(program: Command): void {
  partnerCommand(program, 'imports', {
    description: 'the last imports and deletes, or one of them; --watch follows those that are open',
    examples: [
      ['inlet imports', 'The newest twenty.'],
      ['inlet imports 12 --watch', 'Follow one to its end; ends with 1 if it failed.'],
      ['inlet imports --limit 100 --json', 'For a script.'],
    ],
  })
    .argument('[id]', 'of one import or delete')
    .option('--watch', 'go on until none is open')
    .option('--limit <number>', 'at most so many, up to 100', wholeNumber(1, 100), 20)
    .action(async (id: string | undefined, options: Options) => {
      const output = outputFor(options);
      const importLogId = id === undefined ? null : toId('import', id);
      const inlet = await connect(options);
      if (importLogId !== null && options.watch) return followImport(inlet, importLogId, output);
      if (importLogId !== null) {
        const record = valueOf(await inlet.getImportLog(importLogId));
        output.result(record, () => fieldList(fieldsOf(record), output.stdout));
        if (record.errors !== null) output.note(`What went wrong: inlet errors ${importLogId}`);
        return;
      }
      const query = { limit: options.limit };
      if (options.watch) {
        const failed = await watchImports(
          async (signal) => valueOf(await inlet.listImportLogs({ query, signal })),
          output,
        );
        if (failed) throw failureOfJob(failed);
        return;
      }
      const records = valueOf(await inlet.listImportLogs({ query }));
      output.result(records, () =>
        records.length === 0 ? 'There is no import yet.' : importTable(records, output.stdout),
      );
    });
}

function fieldsOf(record: ImportLog): [string, string][] {
  return [
    ['job', describeImport(record)],
    [record.log_type === 1 ? 'keys' : 'path', subjectOf(record)],
    ['key type', record.key_type === 0 ? 'attribute ids' : 'your own keys'],
    ['bucket', record.path_type === 0 ? 'shared' : 'your own'],
    ['rows', countOf(record.total_rows)],
    ['refused rows', countOf(rejectedRows(record))],
    ['devices', countOf(record.unique_devices)],
    ['created', timeOf(record.created_at)],
    ['updated', timeOf(record.updated_at)],
  ];
}
