import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Failure } from '../../../domain/failure.ts';
import type { BucketCredentials } from '../../../domain/partner-bucket.ts';
import { Secret } from '../../../domain/secret.ts';
import type { NewImport } from '../../../ports/import-log-store.ts';
import { type QueueImportDeps, queueImport as queue } from '../../../usecases/accept/queue-import.ts';
import { partnerOf } from '../authentication.ts';
import { invalidFilePath, invalidRequest, tooManyOpenJobs } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { type DocumentedProblems, defineRoute } from '../operation.ts';
import { queuedSchema } from '../records/import-log.ts';
import { filePath, keyType, pathType } from '../schemas.ts';

/** Inlet sends these values to the storage in HTTP headers, so they must be printable ASCII without spaces. */
const printable = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[\x21-\x7e]+$/, {
      error: ({ path = [] }) => `${path.join('.')} must be printable ASCII without spaces.`,
    });

/** AWS session tokens have about 1,000 characters, and AWS does not limit them. */
const maxTokenLength = 4_096;

export const credentialsSchema = z
  .strictObject({
    accessKeyId: printable(256).optional(),
    secretAccessKey: printable(256).optional(),
    sessionToken: printable(maxTokenLength).optional().meta({
      description:
        'The session token of temporary credentials. They must be valid until the import has read all files, because Inlet cannot renew them.',
    }),
    roleArn: z.string().max(2048).optional().meta({
      description:
        "The ARN of an IAM role. Inlet assumes the role with the partner's external ID. Send either `roleArn` or the two keys.",
    }),
    region: z.string().min(1).max(64),
  })
  .superRefine(
    ({ accessKeyId, secretAccessKey, sessionToken, roleArn }, context) => {
      if (sessionToken !== undefined && roleArn !== undefined) {
        const message = 'credentials.sessionToken must not be combined with roleArn.';
        context.addIssue({ code: 'custom', path: ['sessionToken'], message });
      }
      for (const [name, value] of Object.entries({ accessKeyId, secretAccessKey })) {
        if ((value === undefined) !== (roleArn === undefined)) continue;
        const rule = roleArn === undefined ? 'is required, unless roleArn is set' : 'must not be combined with roleArn';
        context.addIssue({ code: 'custom', path: [name], message: `credentials.${name} ${rule}.` });
      }
    },
    // Run this check even if there are other errors, so that one response lists every missing field.
    { when: ({ value }) => typeof value === 'object' && value !== null },
  )
  .meta({ description: "Credentials for the partner's own bucket. Required if `path_type` is 1.", writeOnly: true });

/** Problems that can occur in operations that accept credentials for a partner's own bucket. */
export const credentialProblems: DocumentedProblems = {
  credentials_required: {
    detail: 'credentials is required when path_type is 1.',
    errors: [{ pointer: '/credentials', detail: 'credentials is required when path_type is 1.' }],
  },
  credentials_not_allowed: {
    detail: 'credentials must be absent when path_type is 0.',
    errors: [{ pointer: '/credentials', detail: 'credentials must be absent when path_type is 0.' }],
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
    detail: 'This installation does not support roleArn. Send accessKeyId and secretAccessKey.',
    errors: [
      {
        pointer: '/credentials/roleArn',
        detail: 'This installation does not support roleArn. Send accessKeyId and secretAccessKey.',
      },
    ],
  },
};

export const importBody = z
  .strictObject({
    file_path: filePath.meta({
      description:
        "The path of a file, or a prefix of many files, relative to the partner's prefix. With `path_type` 1, the form is s3://<bucket>/<path>.",
    }),
    key_type: keyType,
    path_type: pathType.default(0),
    credentials: credentialsSchema.optional(),
    compressed: z.boolean().optional().meta({
      description:
        'Whether the files are gzipped. Required for a prefix. For a single file, the extension determines the default.',
    }),
    mode: z.enum(['merge', 'replace']).default('merge').meta({
      description:
        '`merge` adds the rows to the existing data. `replace` deletes the previous data of every attribute in the files.',
    }),
  })
  .meta({ id: 'QueueImport' });

/** Problems of a request for an import. */
export const importProblems: DocumentedProblems = {
  ...invalidRequest(
    { pointer: '/file_path', detail: 'file_path is required.' },
    { pointer: '/key_type', detail: 'key_type is required: 0 (attribute IDs) or 1 (your foreign keys).' },
  ),
  ...invalidFilePath,
  compressed_required: {
    detail: 'compressed is required when file_path is a prefix.',
    errors: [{ pointer: '/compressed', detail: 'compressed is required when file_path is a prefix.' }],
  },
  ...credentialProblems,
};

export const queueImport = defineRoute({
  id: 'queueImport',
  tag: 'imports',
  method: 'POST',
  path: '/v1/marketplace/import',
  scope: 'marketplace:write',
  summary: 'Queue an import',
  description:
    "Queues the import of one file, or of all files whose path starts with `file_path`. A partner's imports run in submission order, and each file is loaded completely or not at all. The `Location` header points to the import log. The import log, not this response, reports errors in the files, such as a missing file or rejected rows.",
  body: importBody,
  bodyExamples: {
    file: { summary: 'One file', value: { file_path: 'with-bad-rows.csv', key_type: 1 } },
    prefix: {
      summary: "All gzipped files under a prefix, replacing the attributes' previous data",
      value: { file_path: 'daily/2026-11-15/', key_type: 0, compressed: true, mode: 'replace' },
    },
    ownBucket: {
      summary: "From the partner's own bucket",
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
  response: {
    status: 202,
    description: 'The import is queued.',
    schema: queuedSchema,
    example: { import_log_id: 1 },
    location: '/v1/marketplace/import/1',
  },
  problems: {
    ...importProblems,
    ...tooManyOpenJobs,
  },
  handler: (deps: QueueImportDeps & IdempotencyDeps) => async (request, reply) => {
    const idempotent = idempotentRequestOf(deps, request, reply);
    return queuedResponse(reply, await queue(deps, partnerOf(request), newImportOf(request.body), idempotent));
  },
});

export function newImportOf(body: z.output<typeof importBody>): NewImport {
  const { file_path, path_type, key_type, compressed, mode, credentials } = body;
  return {
    filePath: file_path,
    pathType: path_type,
    keyType: key_type,
    compressed: compressed ?? null,
    mode,
    credentials: credentials ? bucketCredentials(credentials) : null,
  };
}

type Credentials = z.infer<typeof credentialsSchema>;

export function bucketCredentials({
  accessKeyId,
  secretAccessKey,
  sessionToken,
  roleArn,
  region,
}: Credentials): BucketCredentials {
  if (roleArn !== undefined) return { roleArn, region };
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Failure(
      'credentials_required',
      'credentials must contain either accessKeyId and secretAccessKey, or roleArn.',
    );
  }
  return {
    accessKeyId,
    secretAccessKey: new Secret(secretAccessKey),
    ...(sessionToken !== undefined && { sessionToken: new Secret(sessionToken) }),
    region,
  };
}

/** Sends status 202 with the location of the import log. */
export function queuedResponse(reply: FastifyReply, importLogId: number): { import_log_id: number } {
  // Log the job ID together with the request ID.
  reply.log.info({ jobId: importLogId }, 'job accepted');
  reply.code(202).header('location', `/v1/marketplace/import/${importLogId}`);
  return { import_log_id: importLogId };
}
