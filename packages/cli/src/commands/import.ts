import type { QueueImport } from '@inlet/sdk';
import { type Command, Option } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { readEnvironment } from '../environment.ts';
import { valueOf } from '../failures/api-errors.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { nameOfJob } from '../follow/describe-import.ts';
import { followImport } from '../follow/follow-import.ts';
import { outputFor } from '../terminal/output.ts';
import { ask } from '../terminal/prompt.ts';
import { type KeyTypeOptions, keyTypeOption, readKeyType } from './arguments.ts';

type CredentialOptions = {
  readonly region?: string;
  readonly accessKeyId?: string;
  readonly roleArn?: string;
};

/** The only way for a secret besides the question: what is typed behind a flag stays in the history of the shell. */
const secretVariable = 'INLET_SOURCE_SECRET_ACCESS_KEY';

/** Of a bucket of the partner. */
async function readCredentials(
  isOwnBucket: boolean,
  { region, accessKeyId, roleArn }: CredentialOptions,
): Promise<QueueImport['credentials']> {
  if (!isOwnBucket) {
    if (region === undefined && accessKeyId === undefined && roleArn === undefined) return undefined;
    throw wrongUse(
      '--region, --access-key-id and --role-arn are for a bucket of your own.',
      'Leave them out, or give the path as s3://<bucket>/<path>.',
    );
  }
  if (roleArn !== undefined && accessKeyId !== undefined) {
    throw wrongUse('There is a role and an access key.', 'Give --role-arn or --access-key-id.');
  }
  const of = { region: region ?? (await ask({ what: 'Region of your bucket', flag: '--region' })) };
  if (roleArn !== undefined) return { ...of, roleArn };
  const id =
    accessKeyId ?? (await ask({ what: 'Access key id for your bucket', flag: '--access-key-id or --role-arn' }));
  const secret =
    readEnvironment()[secretVariable] ??
    (await ask({ what: 'Secret access key for your bucket', flag: secretVariable, isSecret: true }));
  return { ...of, accessKeyId: id, secretAccessKey: secret };
}

/** A path without a slash at its end may be a prefix too; only the storage knows, and the record then says so. */
function isPrefix(path: string): boolean {
  return path.endsWith('/');
}

async function readCompressed(isOfPrefix: boolean, given: boolean | undefined): Promise<boolean | undefined> {
  if (given !== undefined || !isOfPrefix) return given;
  const answer = await ask({
    what: 'Whether the files under the prefix are gzipped',
    question: 'Are the files under this prefix gzipped (yes or no)',
    flag: '--compressed or --no-compressed',
  });
  if (/^y(?:es)?$/i.test(answer)) return true;
  if (/^no?$/i.test(answer)) return false;
  throw wrongUse(`"${answer}" is neither yes nor no.`, 'Give --compressed or --no-compressed.');
}

type Options = CommonOptions &
  KeyTypeOptions &
  CredentialOptions & {
    readonly compressed?: boolean;
    readonly mode?: 'merge' | 'replace';
    readonly watch?: true;
    readonly idempotencyKey?: string;
  };

export function addImportCommand(program: Command): void {
  partnerCommand(program, 'import', {
    description: 'queue the import of a file, or of every file under a prefix',
    examples: [
      ['inlet import 2026-11-16.csv.gz --key-type foreign --watch', 'Import one file and follow it.'],
      ['inlet import deliveries/monday/ --key-type attribute --no-compressed', 'Every file under a prefix.'],
      [
        'inlet import s3://own-bucket/day/ --compressed --key-type foreign \\\n' +
          '      --region eu-central-1 --access-key-id AKIA…',
        'From a bucket of your own. Its secret is asked for; in a script, see `inlet help environment`.',
      ],
    ],
  })
    .argument('<path>', 'below your prefix; s3://<bucket>/<path> in a bucket of your own. A prefix ends with /')
    .addOption(keyTypeOption())
    .option('--compressed', 'the files are gzipped; needed for a prefix, of a file the ending .gz tells')
    .option('--no-compressed', 'they are not')
    .addOption(
      new Option('--mode <mode>', 'replace: the attributes in the files have these rows alone afterwards').choices([
        'merge',
        'replace',
      ]),
    )
    .option('--watch', 'follow it to its end; ends with 1 if it failed')
    .option('--region <region>', 'of a bucket of your own')
    .option('--access-key-id <id>', 'its secret comes from INLET_SOURCE_SECRET_ACCESS_KEY, or is asked for')
    .option('--role-arn <arn>', 'a role for Inlet to assume, in place of the keys')
    .option('--idempotency-key <key>', 'asked again with the same key within a day, it is not done again')
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
      const queued = valueOf(await inlet.queueImport(body, { idempotencyKey: options.idempotencyKey }));
      const { import_log_id: id } = queued;
      const text = `${nameOfJob({ import_log_id: id, log_type: 0 })} is queued`;
      if (options.watch) {
        output.note(text);
        await followImport(inlet, id, output);
        return;
      }
      output.result(queued, () => text);
      output.note(`Follow it: inlet imports ${id} --watch`);
    });
}
