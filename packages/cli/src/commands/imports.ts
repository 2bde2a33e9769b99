import type { ImportLog } from '@inlet/sdk';
import { type Command, Option } from 'commander';
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
import { type ListFilters, filterQuery, withListFilters } from './list-filters.ts';

type Options = CommonOptions &
  ListFilters & {
    readonly watch?: true;
    readonly limit: number;
    readonly type?: keyof typeof logTypes;
    readonly path?: string;
  };

const logTypes = { import: '0', delete: '1' } as const;

export function addImportsCommand(program: Command): void {
  const command = partnerCommand(program, 'imports', {
    description: 'list recent imports and deletes, or show one of them',
    examples: [
      ['inlet imports', 'List the 20 newest jobs.'],
      ['inlet imports 12 --watch', 'Wait for one job. The command exits with code 1 if the job failed.'],
      ['inlet imports --limit 100 --json', 'List 100 jobs as JSON.'],
      ['inlet imports --status failed --path daily/', 'List the failed imports from a folder.'],
    ],
  })
    .argument('[id]', 'import or delete ID')
    .option('--watch', 'wait for completion; exit with code 1 on any failure')
    .option('--limit <number>', 'maximum number of jobs, up to 100', wholeNumber(1, 100), 20)
    .addOption(new Option('--type <type>', 'list only imports or only deletes').choices(Object.keys(logTypes)))
    .option('--path <path>', 'list only imports whose path starts with this text');
  withListFilters(command).action(async (id: string | undefined, options: Options) => {
    const output = outputFor(options);
    const importLogId = id === undefined ? null : toId('import', id);
    const inlet = await connect(options);
    if (importLogId !== null && options.watch) return followImport(inlet, importLogId, output);
    if (importLogId !== null) {
      const record = valueOf(await inlet.getImportLog(importLogId));
      output.result(record, () => fieldList(fieldsOf(record), output.stdout));
      if (record.errors !== null) output.note(`List the errors: inlet errors ${importLogId}`);
      return;
    }
    const { limit, type, path } = options;
    const log_type = type === undefined ? undefined : logTypes[type];
    const query = { limit, path, log_type, ...filterQuery(options) };
    const isFiltered = Object.entries(query).some(([name, value]) => name !== 'limit' && value !== undefined);
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
      records.length === 0
        ? isFiltered
          ? 'No imports match.'
          : 'There are no imports yet.'
        : importTable(records, output.stdout),
    );
  });
}

function fieldsOf(record: ImportLog): [string, string][] {
  return [
    ['job', describeImport(record)],
    [record.log_type === 1 ? 'keys' : 'path', subjectOf(record)],
    ['key type', record.key_type === 0 ? 'attribute IDs' : 'foreign keys'],
    ['bucket', record.path_type === 0 ? 'shared' : 'your own'],
    ['rows', countOf(record.total_rows)],
    ['rejected rows', countOf(rejectedRows(record))],
    ['devices', countOf(record.unique_devices)],
    ['created', timeOf(record.created_at)],
    ['updated', timeOf(record.updated_at)],
  ];
}
