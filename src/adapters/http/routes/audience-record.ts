import type { AudienceDetailsRecord, AudienceRecord, AudienceFileRecord } from '@inlet/contract/audience';
import type { Audience, AudienceScope } from '../../../domain/audience.ts';
import type { AudienceFile, AudienceStore } from '../../../ports/audience-store.ts';
import type { FollowedRecords } from '../../../usecases/follow/followed-records.ts';
import { type AudienceDetails, getAudience, noSuchAudience } from '../../../usecases/follow/read-audiences.ts';
import { type Followable, memoizeShown } from '../answer-record.ts';
import type { DocumentedFailures } from '../operation-documentation.ts';

// What the operations on audiences have in common.

export const audienceIdParameter = {
  audience_id: { description: 'The id that the audience got when it was made.', example: 1 },
};

export const audienceNotFound: DocumentedFailures = { not_found: { detail: 'There is no audience 1.' } };

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

function audienceFileRecord({ s3Path, status, rowsUploaded, updatedAt }: AudienceFile): AudienceFileRecord {
  return { s3_path: s3Path, status, rows_uploaded: rowsUploaded, updated_at: updatedAt.toISOString() };
}

export type OneAudienceDeps = {
  readonly audiences: AudienceStore;
  readonly following: Pick<FollowedRecords, 'audiences'>;
};

const shown = memoizeShown(({ audience, files }: AudienceDetails): AudienceDetailsRecord => ({
  ...audienceRecord(audience),
  file: files.map(audienceFileRecord),
}));

export function oneAudience(
  deps: OneAudienceDeps,
  scope: AudienceScope,
  audienceId: number,
): Followable<AudienceDetails, AudienceDetailsRecord> {
  return {
    read: () => getAudience(deps, scope, audienceId),
    follow: (wants) => deps.following.audiences.follow({ scope, audienceId }, wants),
    missing: () => noSuchAudience(audienceId),
    shown,
  };
}
