import type { QueueImport } from '@inlet/sdk';
import type { Command } from 'commander';
import { readEnvironment } from '../environment.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { ask } from '../terminal/prompt.ts';

/** Options for the credentials of the partner's own bucket. */
export type CredentialOptions = {
  readonly region?: string;
  readonly accessKeyId?: string;
  readonly roleArn?: string;
};

/** The secret is read from this variable or a prompt. An option would leave the secret in the shell history. */
const secretVariable = 'INLET_SOURCE_SECRET_ACCESS_KEY';
/** Temporary credentials also have a token. */
const tokenVariable = 'INLET_SOURCE_SESSION_TOKEN';

export function withCredentialOptions(command: Command): Command {
  return command
    .option('--region <region>', 'region of your own bucket')
    .option(
      '--access-key-id <id>',
      'access key ID for your own bucket; the secret is read from INLET_SOURCE_SECRET_ACCESS_KEY or a prompt',
    )
    .option('--role-arn <arn>', 'role that Inlet assumes instead of using an access key');
}

/** Reads the credentials for the partner's own bucket. */
export async function readCredentials(
  isOwnBucket: boolean,
  { region, accessKeyId, roleArn }: CredentialOptions,
): Promise<QueueImport['credentials']> {
  if (!isOwnBucket) {
    if (region === undefined && accessKeyId === undefined && roleArn === undefined) return undefined;
    throw wrongUse(
      '--region, --access-key-id, and --role-arn apply only to your own bucket.',
      'Omit them. A path in your own bucket has the form s3://<bucket>/<path>.',
    );
  }
  if (roleArn !== undefined && accessKeyId !== undefined) {
    throw wrongUse('--role-arn and --access-key-id cannot be combined.', 'Pass one of them.');
  }
  const of = { region: region ?? (await ask({ what: 'Bucket region', flag: '--region' })) };
  if (roleArn !== undefined) return { ...of, roleArn };
  const id =
    accessKeyId ?? (await ask({ what: 'Access key ID for your bucket', flag: '--access-key-id or --role-arn' }));
  const secret =
    readEnvironment()[secretVariable] ??
    (await ask({ what: 'Secret access key for your bucket', flag: secretVariable, isSecret: true }));
  const sessionToken = readEnvironment()[tokenVariable];
  return { ...of, accessKeyId: id, secretAccessKey: secret, ...(sessionToken ? { sessionToken } : {}) };
}
