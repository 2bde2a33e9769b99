import type { Command } from 'commander';
import type { CheckOptions } from '../check/run-check.ts';
import { partnerCommand } from '../command.ts';
import { exitCode } from '../failures/cli-failure.ts';
import { outputFor } from '../terminal/output.ts';
import { keyTypeOption, wholeNumber } from './arguments.ts';

export function addCheckCommand(program: Command): void {
  partnerCommand(program, 'check', {
    description: 'validate local files as an import would, without sending them',
    examples: [
      ['inlet check monday.csv', 'Validate every row. Only the format of the keys is checked.'],
      ['inlet check deliveries/ --attributes --key-type foreign', 'Also compare the keys with your attributes.'],
      ['inlet check winter.csv.gz --audience --json', 'Validate an audience file (id,event) in a script.'],
    ],
  })
    .argument('<path...>', 'files or folders; hidden files in folders are skipped')
    .option('--audience', 'expect id,event rows instead of id,keys or id,id_type,country,operation,keys')
    .addOption(keyTypeOption())
    .option('--keys <file>', 'file with one valid key per line')
    .option(
      '--attributes',
      'use your attributes and limits from the service (requires a login); with --audience, only the limits',
    )
    .option('--compressed', 'expect gzip files (default: by the .gz extension)')
    .option('--no-compressed', 'expect uncompressed files')
    .option('--bad-rows <number>', 'number of rejected rows to show per file', wholeNumber(0, 9999), 10)
    .addHelpText('after', '\nExits 1 if a file would fail or a row would be rejected.')
    .action(async (paths: string[], options: CheckOptions) => {
      // Loaded on demand, because no other command needs the row rule.
      const { runCheck } = await import('../check/run-check.ts');
      if (!(await runCheck(paths, options, outputFor(options)))) process.exitCode = exitCode.failed;
    });
}
