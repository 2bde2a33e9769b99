import type { Command } from 'commander';
import type { CheckOptions } from '../check/run-check.ts';
import { partnerCommand } from '../command.ts';
import { exitCode } from '../failures/cli-failure.ts';
import { outputFor } from '../terminal/output.ts';
import { keyTypeOption, wholeNumber } from './arguments.ts';

export function addCheckCommand(program: Command): void {
  partnerCommand(program, 'check', {
    description: 'judge files on this machine as an import would, without sending them',
    examples: [
      ['inlet check monday.csv', 'See whether every row would be taken. Keys are judged by their form only.'],
      ['inlet check deliveries/ --attributes --key-type foreign', 'The same with the keys that you have at Inlet.'],
      ['inlet check winter.csv.gz --audience --json', 'A file of an audience (id,event), for a script.'],
    ],
  })
    .argument('<path...>', 'files, or folders with files; hidden files in a folder are left out')
    .option('--audience', 'rows are id,event; else id,keys or id,id_type,country,operation,keys')
    .addOption(keyTypeOption())
    .option('--keys <file>', 'a file with one key per line; a key that is not in it is unknown')
    .option(
      '--attributes',
      'compare keys with your attributes at Inlet, and use the limits there; needs a login. With --audience, the limits alone',
    )
    .option('--compressed', 'the files will be announced as gzipped; else the ending .gz tells')
    .option('--no-compressed', 'they will be announced as not gzipped')
    .option('--bad-rows <number>', 'how many bad rows are shown of each file', wholeNumber(0, 9999), 10)
    .addHelpText('after', '\nEnds with 1 if a file would fail or a row would be refused.')
    .action(async (paths: string[], options: CheckOptions) => {
      // The rule is loaded here and not before: other commands do not need it.
      const { runCheck } = await import('../check/run-check.ts');
      if (!(await runCheck(paths, options, outputFor(options)))) process.exitCode = exitCode.failed;
    });
}
