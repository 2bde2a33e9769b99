import type { AudienceFileRecord, AudienceRecord } from '@inlet/contract/audience';
import type { Audience } from '../../../domain/audience.ts';
import type { AudienceFile } from '../../../ports/audience-store.ts';

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

export function audienceFileRecord({ s3Path, status, rowsUploaded, updatedAt }: AudienceFile): AudienceFileRecord {
  return { s3_path: s3Path, status, rows_uploaded: rowsUploaded, updated_at: updatedAt.toISOString() };
}
