import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { connectS3 } from '../../adapters/s3/connect.ts';
import type { Config } from '../config.ts';
import type { Check } from './examine.ts';

export function storageChecks(config: Config): Check[] {
  return [
    {
      name: 'Shared bucket',
      remedy:
        'Start the storage, or mend INLET_S3_ENDPOINT, INLET_S3_BUCKET and its access key. Loads wait; records can be read.',
      look: async () => {
        const s3 = connectS3({
          endpoint: config.INLET_S3_ENDPOINT ?? null,
          region: config.INLET_S3_REGION,
          accessKeyId: config.INLET_S3_ACCESS_KEY_ID,
          secretAccessKey: config.INLET_S3_SECRET_ACCESS_KEY,
        });
        try {
          await s3.send(new ListObjectsV2Command({ Bucket: config.INLET_S3_BUCKET, MaxKeys: 1 }), {
            abortSignal: AbortSignal.timeout(4_000),
          });
          return `${config.INLET_S3_BUCKET} can be listed`;
        } finally {
          s3.destroy();
        }
      },
    },
  ];
}
