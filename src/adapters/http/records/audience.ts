import { z } from 'zod';
import type { Audience } from '../../../domain/audience.ts';
import type { AudienceFile } from '../../../ports/audience-store.ts';
import type { AudienceDetails } from '../../../usecases/follow/read-audiences.ts';
import { status, timestamp } from '../schemas.ts';

// Field names and codes follow the specification.

const deviceCount = z.int().min(0);

export const audienceSchema = z
  .object({
    audience_id: z.int(),
    name: z.string(),
    unique_devices: deviceCount.meta({ description: 'Distinct devices in the audience.' }),
    default_warehouse_segment_id: z
      .int()
      .meta({ description: 'The segment ID to use in the deep link to the composition report.' }),
    status,
    created_at: timestamp,
    updated_at: timestamp,
    uploaded_devices: deviceCount.meta({ description: 'The sum of the distinct device counts of all loaded files.' }),
    matched_devices: deviceCount.meta({ description: 'Distinct devices that also exist in the device warehouse.' }),
  })
  .meta({ id: 'Audience' });

export const audienceListSchema = z.array(audienceSchema).max(1000);

const audienceFileSchema = z
  .object({
    s3_path: z.string().meta({ description: "Object key, including the partner's prefix." }),
    status,
    rows_uploaded: z.int(),
    updated_at: timestamp,
  })
  .meta({ id: 'AudienceFile' });

export const audienceDetailsSchema = audienceSchema
  .extend({ file: z.array(audienceFileSchema).max(10_000) })
  .meta({ id: 'AudienceDetails' });

export const createdAudienceSchema = z
  .object({ audience_id: z.int(), default_warehouse_segment_id: z.int() })
  .meta({ id: 'CreatedAudience' });

export type AudienceRecord = z.infer<typeof audienceSchema>;
export type AudienceDetailsRecord = z.infer<typeof audienceDetailsSchema>;
export type AudienceFileRecord = z.infer<typeof audienceFileSchema>;

export const audienceExample: AudienceRecord = {
  audience_id: 1,
  name: 'Summer',
  unique_devices: 1500,
  default_warehouse_segment_id: 500001,
  status: 2,
  created_at: '2026-11-15T01:12:18.268Z',
  updated_at: '2026-11-15T01:12:19.120Z',
  uploaded_devices: 2000,
  matched_devices: 1000,
};

export const audienceDetailsExample: AudienceDetailsRecord = {
  ...audienceExample,
  file: [
    {
      s3_path: 'acme/acme/summer/1.csv',
      status: 2,
      rows_uploaded: 2000,
      updated_at: '2026-11-15T01:12:19.120Z',
    },
  ],
};

export function audienceRecord(audience: Audience): AudienceRecord {
  return {
    audience_id: audience.id,
    name: audience.name,
    unique_devices: audience.uniqueDevices,
    default_warehouse_segment_id: audience.warehouseSegmentId,
    status: audience.status,
    created_at: audience.createdAt.toISOString(),
    updated_at: audience.updatedAt.toISOString(),
    uploaded_devices: audience.uploadedDevices,
    matched_devices: audience.matchedDevices,
  };
}

export function audienceDetailsRecord({ audience, files }: AudienceDetails): AudienceDetailsRecord {
  return { ...audienceRecord(audience), file: files.map(audienceFileRecord) };
}

function audienceFileRecord({ s3Path, status: fileStatus, rowsUploaded, updatedAt }: AudienceFile): AudienceFileRecord {
  return { s3_path: s3Path, status: fileStatus, rows_uploaded: rowsUploaded, updated_at: updatedAt.toISOString() };
}
