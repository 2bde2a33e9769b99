import { type Command, Option } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { reportQueued } from '../follow/follow-import.ts';
import { outputFor } from '../terminal/output.ts';
import { ask } from '../terminal/prompt.ts';
import { type KeyTypeOptions, keyTypeOption, readKeyType } from './arguments.ts';
import { printDryRun } from './dry-run.ts';
import { type CredentialOptions, readCredentials, withCredentialOptions } from './source-credentials.ts';

/**
 * A path without a trailing slash may still be a prefix, but only the storage can tell. In that case, the job reports
 * an error.
 */
function isPrefix(path: string): boolean {
  return path.endsWith('/');
}

async function readCompressed(isOfPrefix: boolean, given: boolean | undefined): Promise<boolean | undefined> {
  if (given !== undefined || !isOfPrefix) return given;
  const answer = await ask({
    what: 'The compression of files under a prefix',
    question: 'Are the files under this prefix gzip-compressed (yes or no)',
    flag: '--compressed or --no-compressed',
  });
  if (/^y(?:es)?$/i.test(answer)) return true;
  if (/^no?$/i.test(answer)) return false;
  throw wrongUse(`"${answer}" is neither yes nor no.`, 'Pass --compressed or --no-compressed.');
}

type Options = CommonOptions &
  KeyTypeOptions &
  CredentialOptions & {
    readonly compressed?: boolean;
    readonly mode?: 'merge' | 'replace';
    readonly watch?: true;
    readonly idempotencyKey?: string;
    readonly dryRun?: true;
  };

export function addImportCommand(program: Command): void {
  const command = partnerCommand(program, 'import', {
    description: 'import a file or all files under a prefix',
    examples: [
      ['inlet import 2026-11-16.csv.gz --key-type foreign --watch', 'Import one file and wait for completion.'],
      ['inlet import deliveries/monday/ --key-type attribute --no-compressed', 'Import all files under a prefix.'],
      [
        'inlet import s3://own-bucket/day/ --compressed --key-type foreign \\\n' +
          '      --region eu-central-1 --access-key-id AKIA…',
        'Import from your own bucket. The command prompts for the secret. For scripts, see `inlet help environment`.',
      ],
    ],
  })
    .argument(
      '<path>',
      'path relative to your prefix, or s3://<bucket>/<path> in your own bucket; a prefix ends with /',
    )
    .addOption(keyTypeOption())
    .option(
      '--compressed',
      'declare that the files are gzip-compressed; required for a prefix (default for a file: by the .gz extension)',
    )
    .option('--no-compressed', 'declare that the files are not compressed')
    .addOption(
      new Option(
        '--mode <mode>',
        'merge adds the rows to the existing data; replace replaces the data of all attributes in the files',
      ).choices(['merge', 'replace']),
    )
    .option('--watch', 'wait for completion; exit with code 1 on any failure');
  withCredentialOptions(command)
    .option('--idempotency-key <key>', 'make the request safe to repeat for a day')
    .option('--dry-run', 'validate the first rows of the first files and import nothing')
    .action(async (path: string, options: Options) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const isOwn = path.startsWith('s3://');
      const credentials = await readCredentials(isOwn, options);
      const key_type = await readKeyType(options);
      const compressed = await readCompressed(isPrefix(path), options.compressed);
      const body = {
        file_path: path,
        key_type,
        ...(isOwn ? { path_type: 1 as const } : {}),
        ...(credentials === undefined ? {} : { credentials }),
        ...(compressed === undefined ? {} : { compressed }),
        ...(options.mode === undefined ? {} : { mode: options.mode }),
      };
      if (options.dryRun) return printDryRun(valueOf(await inlet.dryRunImport(body)), output);
      const queued = valueOf(await inlet.queueImport(body, { idempotencyKey: options.idempotencyKey }));
      await reportQueued(inlet, queued, { log_type: 0, watch: options.watch === true }, output);
    });
}
