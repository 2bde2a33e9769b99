import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { followImport } from '../follow/follow-import.ts';
import { outputFor } from '../terminal/output.ts';
import { toId } from './arguments.ts';
import { type CredentialOptions, readCredentials, withCredentialOptions } from './source-credentials.ts';

type RetryOptions = CommonOptions & CredentialOptions & { readonly watch?: true; readonly failedOnly?: true };

export function addChangeImportCommands(program: Command): void {
  partnerCommand(program, 'cancel', {
    description: 'cancel an import, or a delete that has not started',
    examples: [['inlet cancel 12', 'Cancel import 12. Files that have already been read are still loaded.']],
  })
    .argument('<id>', 'import or delete ID')
    .action(async (text: string, options: CommonOptions) => {
      const output = outputFor(options);
      const id = toId('import', text);
      const inlet = await connect(options);
      valueOf(await inlet.cancelImport(id));
      output.result({ import_log_id: id }, () => `import ${id} is canceled`);
      output.note(`See which files were loaded: inlet imports ${id}`);
    });

  const retry = partnerCommand(program, 'retry', {
    description: 'queue a failed or canceled import again',
    examples: [
      ['inlet retry 12 --watch', 'Retry import 12 and wait for completion.'],
      ['inlet retry 12 --failed-only', 'Import only the files that failed or were canceled.'],
      [
        'inlet retry 12 --region eu-central-1 --access-key-id AKIA…',
        'Retry an import from your own bucket. Pass the credentials again, because they are not stored.',
      ],
    ],
  })
    .argument('<id>', 'ID of the failed import')
    .option('--failed-only', 'import only the files that failed or were canceled')
    .option('--watch', 'wait for completion; exit with code 1 on any failure');
  withCredentialOptions(retry).action(async (text: string, options: RetryOptions) => {
    const output = outputFor(options);
    const retried = toId('import', text);
    const inlet = await connect(options);
    const { path_type } = valueOf(await inlet.getImportLog(retried));
    const credentials = await readCredentials(path_type === 1, options);
    const body = {
      ...(options.failedOnly ? { files: 'failed' as const } : {}),
      ...(credentials === undefined ? {} : { credentials }),
    };
    const queued = valueOf(await inlet.retryImport(retried, body));
    const { import_log_id: id } = queued;
    if (options.watch) {
      output.note(`import ${id} repeats import ${retried}`);
      return followImport(inlet, id, output);
    }
    output.result(queued, () => `import ${id} repeats import ${retried}`);
    output.note(`Follow it with: inlet imports ${id} --watch`);
  });
}
