import type { QueueImport } from '@inlet/sdk';
import { readEnvironment } from '../environment.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { ask } from '../terminal/prompt.ts';

export type CredentialOptions = {
  readonly region?: string;
  readonly accessKeyId?: string;
  readonly roleArn?: string;
};

/** The only way for a secret besides the question: what is typed behind a flag stays in the history of the shell. */
const secretVariable = 'INLET_SOURCE_SECRET_ACCESS_KEY';

/** Of a bucket of the partner. */
export async function readCredentials(
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
