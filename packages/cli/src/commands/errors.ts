import type { LoadError } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { placeOf } from '../follow/describe-import.ts';
import { csvHeading, csvLine } from '../terminal/format.ts';
import { outputFor, writeText } from '../terminal/output.ts';
import { type Column, table } from '../terminal/table.ts';
import { escapeTerminal, escapeTerminalJson } from '../terminal/text.ts';
import { toId, wholeNumber } from './arguments.ts';

type Options = CommonOptions & { readonly csv?: true; readonly audience?: true; readonly limit: number };

const csvColumns = ['file', 'row', 'column', 'code', 'message', 'text'] as const;

const columns: readonly Column<LoadError>[] = [
  { title: 'WHERE', of: placeOf, canShrink: true },
  { title: 'COLUMN', of: ({ column }) => column },
  { title: 'CODE', of: ({ code }) => code, paint: () => 'yellow' },
  { title: 'ROW', of: ({ text }) => text, canShrink: true },
  { title: 'WHY', of: ({ message }) => message, canShrink: true },
];

export function addErrorsCommand(program: Command): void {
  partnerCommand(program, 'errors', {
    description: 'list failed files and rejected rows of an import',
    examples: [
      ['inlet errors 12', 'Show the first 100 errors as a table.'],
      ['inlet errors 12 --csv > rejected.csv', 'Save all stored errors as CSV.'],
      ['inlet errors 3 --audience --json', 'List the errors of an audience as JSON.'],
    ],
  })
    .argument('<id>', 'import ID; with --audience, audience ID')
    .option('--csv', 'print all errors as CSV (RFC 4180)')
    .option('--audience', 'treat the ID as an audience ID')
    .option('--limit <number>', 'maximum number of rows in the table', wholeNumber(1, 999_999), 100)
    .action(async (text: string, options: Options) => {
      const output = outputFor(options);
      const id = toId(options.audience ? 'audience' : 'import', text);
      const inlet = await connect(options);
      const rejects = inlet.rejects(options.audience ? { audience_id: id } : { import_log_id: id });
      const { stdout } = output;
      if (options.csv) {
        // Escape control characters only on a terminal, which would interpret them. A file gets the original
        // characters.
        const shown = (line: string): string => (stdout.isTTY ? escapeTerminal(line) : line);
        await writeText(stdout, `${csvHeading(csvColumns)}\r\n`);
        for await (const reject of rejects)
          await writeText(stdout, `${shown(csvLine(csvColumns, valueOf(reject)))}\r\n`);
        return;
      }
      if (output.isJson) {
        let before = '[\n';
        for await (const reject of rejects) {
          await writeText(stdout, `${before}${escapeTerminalJson(valueOf(reject), 0)}`);
          before = ',\n';
        }
        await writeText(stdout, before === '[\n' ? '[]\n' : '\n]\n');
        return;
      }
      const first: LoadError[] = [];
      for await (const reject of rejects) {
        if (first.push(valueOf(reject)) > options.limit) break;
      }
      const shown = first.slice(0, options.limit);
      output.result(shown, () => (shown.length === 0 ? 'There are no errors.' : table(columns, shown, stdout)));
      if (first.length > shown.length) output.note(`There are more errors. Use --csv or a higher --limit.`);
    });
}
