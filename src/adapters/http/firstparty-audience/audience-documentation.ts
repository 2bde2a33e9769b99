import type { AudienceDetailsRecord, AudienceRecord } from '@inlet/contract/audience';
import type { DocumentedFailures } from '../operation-documentation.ts';

// What the operations on audiences have in common.

export const audienceId = {
  audience_id: { description: 'The id that the audience got when it was made.', example: 1 },
};

export const noSuchAudience: DocumentedFailures = { not_found: { detail: 'There is no audience 1.' } };

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
