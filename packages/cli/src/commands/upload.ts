import type { Command } from 'commander';
import { partnerCommand } from '../command.ts';
import { outputFor } from '../terminal/output.ts';
import type { UploadCommandOptions } from '../upload/run-upload.ts';
import { wholeNumber } from './arguments.ts';

export function addUploadCommand(program: Command): void {
  partnerCommand(program, 'upload', {
    description: 'bring files into your prefix of the shared bucket',
    examples: [
      ['inlet upload monday.csv --prefix deliveries', 'One file, as deliveries/monday.csv.'],
      ['inlet upload exports/ --prefix deliveries/monday', 'Every file in a folder, with the folders in it.'],
    ],
  })
    .argument('<path...>', 'files, or folders with files; hidden files in a folder are left out')
    .option('--prefix <prefix>', 'where they go, below your own prefix', '')
    .option('--parallel <number>', 'how many parts are on their way at once', wholeNumber(1, 64), 4)
    .option('--part-size <MiB>', 'size of a part; as many as --parallel says are in memory', wholeNumber(5, 1024), 8)
    .option('--no-resume', 'send everything, and leave nothing of a file that fails')
    .addHelpText(
      'after',
      '\nIf it is interrupted, by whatever, the same command goes on where it was. A file that is there already with the same\ncontent is not sent again.',
    )
    .action(async (paths: string[], options: UploadCommandOptions) => {
      const { runUpload } = await import('../upload/run-upload.ts');
      await runUpload(paths, options, outputFor(options));
    });
}
