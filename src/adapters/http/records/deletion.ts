import { z } from 'zod';
import { type Erasure, type SignedProof, erasureWaits, maxIdsPerRequest } from '../../../domain/erasure.ts';
import { code, filePath, pathId, status, timestamp } from '../schemas.ts';

export const deletionParams = z.object({ deletion_id: pathId('ID of the deletion.', 5) });
export const deletionNotFound = { not_found: { detail: 'Deletion 5 does not exist.' } } as const;

/** A union would allow both fields. The handler rejects a request with both or none. */
export const requestDeletionBody = z
  .strictObject({
    ids: z
      .array(z.string().max(64))
      .min(1)
      .max(maxIdsPerRequest)
      .optional()
      .meta({ description: 'Device IDs, with or without hyphens, in upper or lower case.' }),
    file_path: filePath.optional().meta({
      description:
        'Path of a file with one device ID per line, relative to your prefix in the shared bucket. It may be gzipped. A line that is not an ID is counted and skipped.',
    }),
  })
  .meta({ id: 'RequestDeletion' });

export const requestedDeletionSchema = z.object({ deletion_id: z.int() }).meta({ id: 'RequestedDeletion' });

export const deletionSchema = z
  .object({
    deletion_id: z.int(),
    status,
    source: z.enum(['ids', 'file']),
    ids: z.int().meta({ description: 'Number of device IDs. 0 until the file is read.' }),
    invalid_lines: z.int().meta({ description: 'Lines of the file that are not device IDs.' }),
    waiting_for: z.enum(erasureWaits).nullable().meta({
      description:
        '`loads`: loads that started earlier are not published. `index`: the device index is being updated. `servers`: an error, such as an unavailable server. `replaced_parts`: files of replaced data are not removed from disk yet. `detached_parts`: the operator has to remove detached data.',
    }),
    error: z.object({ code, message: z.string() }).nullable(),
    has_proof: z.boolean(),
    requested_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'Deletion' });

export const deletionListSchema = z.array(deletionSchema).max(100);

type DeletionRecord = z.input<typeof deletionSchema>;

export function deletionRecord(found: Erasure): DeletionRecord {
  const { failure } = found;
  return {
    deletion_id: found.id,
    status: found.status,
    source: found.isFile ? 'file' : 'ids',
    ids: found.ids,
    invalid_lines: found.invalidLines,
    waiting_for: found.waitingFor,
    error: failure && { code: failure.code, message: failure.detail },
    has_proof: found.hasProof,
    requested_at: found.requestedAt.toISOString(),
    finished_at: found.finishedAt?.toISOString() ?? null,
  };
}

export const deletionExample: DeletionRecord = {
  deletion_id: 5,
  status: 1,
  source: 'ids',
  ids: 2,
  invalid_lines: 0,
  waiting_for: 'replaced_parts',
  error: null,
  has_proof: false,
  requested_at: '2026-11-15T01:14:02.120Z',
  finished_at: null,
};

const rowsOf = { table: z.string(), shard: z.int() };

export const proofSchema = z
  .object({
    format: z.literal('inlet-erasure-proof-1'),
    deletion_id: z.int(),
    batch_id: z.int().meta({ description: 'Deletions that ran together. They share the counts.' }),
    scope: z.enum(['partner', 'all']),
    partner_id: z.int().nullable(),
    ids: z.int(),
    invalid_lines: z.int(),
    ids_salt: z.string().meta({
      description:
        'The salt, as text, which is hashed before the list in `ids_sha256`. It is not signed. Remove it before you pass the proof on. Otherwise, others can check whether the list consists of a certain ID.',
    }),
    ids_sha256: z.string().meta({
      description:
        'SHA-256 of `ids_salt` followed by the file as it is stored, or by the sorted IDs. Each ID occurs once, in lowercase with hyphens, and is followed by a line feed.',
    }),
    requested_at: timestamp,
    started_at: timestamp,
    erased_at: timestamp.meta({ description: 'When no row remained on any replica.' }),
    finished_at: timestamp.meta({ description: 'When the files of replaced data were removed.' }),
    erased: z.array(z.object({ ...rowsOf, rows_erased: z.int() })),
    remaining: z.array(z.object({ ...rowsOf, replica: z.int(), rows_remaining: z.int() })),
    csv_sha256: z.string().meta({ description: 'SHA-256 of the same proof as CSV.' }),
    signature: z
      .object({
        algorithm: z.literal('Ed25519'),
        key_id: z.string(),
        public_key: z.string().meta({ description: "32 bytes, Base64. Compare it with your operator's key." }),
        value: z.string().meta({ description: 'Base64.' }),
      })
      .nullable()
      .meta({ description: 'Null if the operator has not configured a key.' }),
  })
  .meta({ id: 'DeletionProof' });

export function proofRecord(proof: SignedProof): z.input<typeof proofSchema> {
  return { ...proof, erased: [...proof.erased], remaining: [...proof.remaining] };
}

export const proofExample: z.input<typeof proofSchema> = {
  format: 'inlet-erasure-proof-1',
  deletion_id: 5,
  batch_id: 3,
  scope: 'partner',
  partner_id: 1,
  ids: 2,
  invalid_lines: 0,
  ids_salt: 'c0e1f9a7d24b8e6350f7a1b9c8d2e3f4',
  ids_sha256: '0c4bdf64c3a1e5a63d86e0d1e0a9b3e4f0ea7f5b4a4a7a3b6c4b0c8e3f5d2a19',
  requested_at: '2026-11-15T01:14:02.120Z',
  started_at: '2026-11-15T01:14:03.001Z',
  erased_at: '2026-11-15T01:14:04.530Z',
  finished_at: '2026-11-15T01:22:30.118Z',
  erased: [{ table: 'device_attributes', shard: 1, rows_erased: 4 }],
  remaining: [{ table: 'device_attributes', shard: 1, replica: 1, rows_remaining: 0 }],
  csv_sha256: '4f8b42c22dd3729b519ba6f68d2da7cc5b2d606d05daed5ad5128cc03e6c6358',
  signature: null,
};

export const proofCsvExample =
  'table,shard,replica,rows_erased,rows_remaining\r\ndevice_attributes,1,,4,\r\ndevice_attributes,1,1,,0\r\n';
