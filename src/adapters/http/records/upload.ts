import { z } from 'zod';
import { partBytesFor } from '../../../domain/upload.ts';
import type { OpenUpload } from '../../../usecases/accept/upload-files.ts';
import { timestamp } from '../schemas.ts';

const partNumber = z.int().meta({ description: 'Position of the part in the file, starting at 1.' });

export const uploadSchema = z
  .object({
    upload_id: z.string(),
    file_path: z.string().meta({ description: 'The path to import or to load into an audience.' }),
    bytes: z.int().meta({ description: 'Size of the file.' }),
    part_bytes: z.int().meta({ description: 'Size of every part except the last, which contains the rest.' }),
    uploaded: z
      .array(z.object({ part_number: partNumber, bytes: z.int(), etag: z.string() }))
      .meta({ description: 'The parts that are stored.' }),
    parts: z
      .array(
        z.object({
          part_number: partNumber,
          url: z.string().meta({ description: 'Send the bytes of the part to this URL with `PUT`.' }),
        }),
      )
      .meta({ description: 'The parts that are missing. A URL is valid for up to one hour and needs no credentials.' }),
    expires_at: timestamp.meta({ description: 'When the upload can no longer be read or completed (ISO 8601, UTC).' }),
  })
  .meta({ id: 'Upload' });

type UploadRecord = z.input<typeof uploadSchema>;

export function uploadRecord({ uploadId, upload, uploaded, parts }: OpenUpload): UploadRecord {
  return {
    upload_id: uploadId,
    file_path: upload.filePath,
    bytes: upload.bytes,
    part_bytes: partBytesFor(upload.bytes),
    uploaded: uploaded.map((part) => ({ part_number: part.partNumber, bytes: part.bytes, etag: part.etag })),
    parts: parts.map((part) => ({ part_number: part.partNumber, url: part.url })),
    expires_at: upload.expiresAt.toISOString(),
  };
}

const urlOf = (part: number): string =>
  `https://storage.example.com/inlet/acme/summer/1.csv.gz?partNumber=${part}&uploadId=2~lRz5&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-SignedHeaders=content-length%3Bhost&X-Amz-Signature=6f0e`;

export const uploadExample = {
  upload_id: 'k1.Ew2dBnXJ4Yh8w0aZ',
  file_path: 'summer/1.csv.gz',
  bytes: 12_582_912,
  part_bytes: 8_388_608,
  uploaded: [],
  parts: [1, 2].map((part) => ({ part_number: part, url: urlOf(part) })),
  expires_at: '2026-11-16T09:30:00.000Z',
} satisfies UploadRecord;
