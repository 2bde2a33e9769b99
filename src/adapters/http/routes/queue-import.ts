import { operations } from '@inlet/contract/operations';
import type { z } from 'zod';
import { Failure } from '../../../domain/failure.ts';
import type { BucketCredentials } from '../../../domain/partner-bucket.ts';
import { Secret } from '../../../domain/secret.ts';
import { type QueueImportDeps, queueImport } from '../../../usecases/accept/queue-import.ts';
import type { Api } from '../api.ts';
import { partnerOf } from '../authentication.ts';
import { invalidFilePath, tooManyOpenJobs } from '../common-documentation.ts';
import { type OnceDeps, idempotentRequestOf } from '../idempotency.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { answerQueued } from './import-log-record.ts';

export const queueImportDocumentation: OperationDocumentation = {
  summary: 'Queue an import',
  description:
    'Queues the import of one file, or of every file whose path begins with `file_path`. Imports of a partner are done in the order asked, each file whole or not at all. Follow the import at `Location`. What only the files can tell (none is found, a row is refused) stands on the record, not in this answer.',
  bodies: {
    file: { summary: 'One file', value: { file_path: 'with-bad-rows.csv', key_type: 1 } },
    prefix: {
      summary: 'Every file under a prefix, gzipped; what their attributes had before goes',
      value: { file_path: 'daily/2026-11-15/', key_type: 0, compressed: true, mode: 'replace' },
    },
    ownBucket: {
      summary: "From a bucket of the partner's own",
      value: {
        file_path: 's3://acme-exports/ids/day.csv.gz',
        key_type: 1,
        path_type: 1,
        credentials: {
          accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
          secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
          region: 'eu-central-1',
        },
      },
    },
  },
  answer: {
    description: 'The import is queued.',
    example: { import_log_id: 1 },
    location: '/v1/marketplace/import/1',
  },
  failures: {
    invalid_request: {
      detail: 'The request breaks a rule; see errors.',
      errors: [
        { pointer: '/file_path', detail: 'Invalid input: expected string, received undefined' },
        { pointer: '/key_type', detail: 'Invalid option: expected one of 0|1' },
      ],
    },
    ...invalidFilePath,
    compressed_required: {
      detail: 'compressed is required when file_path is a prefix.',
      errors: [{ pointer: '/compressed', detail: 'compressed is required when file_path is a prefix.' }],
    },
    credentials_required: {
      detail: 'credentials must be given when path_type is 1.',
      errors: [{ pointer: '/credentials', detail: 'credentials must be given when path_type is 1.' }],
    },
    invalid_region: {
      detail: '"mars-1" is not a supported AWS region.',
      errors: [
        {
          pointer: '/credentials/region',
          detail: '"mars-1" is not a supported AWS region.',
        },
      ],
    },
    invalid_role_arn: {
      detail: 'roleArn must have the form arn:aws:iam::<account>:role/<name>.',
      errors: [
        { pointer: '/credentials/roleArn', detail: 'roleArn must have the form arn:aws:iam::<account>:role/<name>.' },
      ],
    },
    roles_not_available: {
      detail: 'roleArn cannot be used here; send accessKeyId and secretAccessKey.',
      errors: [
        {
          pointer: '/credentials/roleArn',
          detail: 'roleArn cannot be used here; send accessKeyId and secretAccessKey.',
        },
      ],
    },
    ...tooManyOpenJobs,
  },
};

const { path, body, answer } = operations.queueImport;

export function addQueueImport(api: Api, deps: QueueImportDeps & OnceDeps): void {
  api.post(path, { schema: { body, response: { 202: answer } } }, async (request, reply) => {
    const { file_path, path_type, key_type, compressed, mode, credentials } = request.body;
    const asked = {
      filePath: file_path,
      pathType: path_type,
      keyType: key_type,
      compressed: compressed ?? null,
      mode,
      credentials: credentials ? bucketCredentials(credentials) : null,
    };
    return answerQueued(
      reply,
      await queueImport(deps, partnerOf(request), asked, idempotentRequestOf(deps, request, reply)),
    );
  });
}

type Given = NonNullable<z.infer<typeof body>['credentials']>;

function bucketCredentials({ accessKeyId, secretAccessKey, roleArn, region }: Given): BucketCredentials {
  if (roleArn !== undefined) return { roleArn, region };
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Failure('credentials_required', 'credentials must hold keys or a role.');
  }
  return { accessKeyId, secretAccessKey: new Secret(secretAccessKey), region };
}
