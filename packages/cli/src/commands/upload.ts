import type { Command } from 'commander';
import { partnerCommand } from '../command.ts';
import { outputFor } from '../terminal/output.ts';
import type { UploadCommandOptions } from '../upload/run-upload.ts';
import { wholeNumber } from './arguments.ts';

export function addUploadCommand(program: Command): void {
  partnerCommand(program, 'upload', {
    description: 'upload files to your prefix in the shared bucket',
    examples: [
      ['inlet upload monday.csv --prefix deliveries', 'Upload one file as deliveries/monday.csv.'],
      ['inlet upload exports/ --prefix deliveries/monday', 'Upload a folder, including its subfolders.'],
    ],
  })
    .argument('<path...>', 'files or folders; hidden files in folders are skipped')
    .option('--prefix <prefix>', 'destination relative to your own prefix', '')
    .option('--parallel <number>', 'number of parts to send concurrently', wholeNumber(1, 64), 4)
    .option('--part-size <MiB>', 'part size; --parallel parts are held in memory', wholeNumber(5, 1024), 8)
    .option('--no-resume', 'send everything again and remove the parts of failed files')
    .addHelpText(
      'after',
      '\nIf an upload is interrupted, run the same command again to resume it. A file that is already uploaded with the same content is not sent again.',
    )
    .action(async (paths: string[], options: UploadCommandOptions) => {
      const { runUpload } = await import('../upload/run-upload.ts');
      await runUpload(paths, options, outputFor(options));
    });
}
