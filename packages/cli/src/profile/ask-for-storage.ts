import type { StorageSettings } from '@inlet/sdk';
import { ask, canAsk } from '../terminal/prompt.ts';
import type { Issued } from './issued.ts';

/** Where uploads go. Nothing is known and nobody can be asked, or the bucket is left empty: no uploads. */
export async function askForStorage(known: Issued['storage']): Promise<StorageSettings | undefined> {
  const isKnown = Object.values(known).some((value) => value !== undefined);
  if (!isKnown && !canAsk()) return undefined;
  const bucket =
    known.bucket ??
    (await ask({
      what: 'Bucket',
      ...(isKnown ? {} : { question: 'Bucket that was issued to you (empty: no uploads with this login)' }),
      flag: '--storage-bucket',
      ...(isKnown ? {} : { isOptional: true }),
    }));
  if (bucket === '') return undefined;
  const prefix = known.prefix ?? (await ask({ what: 'Prefix in it', flag: '--storage-prefix' }));
  const region = known.region ?? (await ask({ what: 'Region', flag: '--storage-region' }));
  const endpoint =
    known.endpoint ??
    (isKnown
      ? undefined
      : await ask({
          what: 'Address of the storage',
          question: 'Address of the storage (empty: AWS)',
          flag: '--storage-endpoint',
          isOptional: true,
        }));
  const accessKeyId = known.accessKeyId ?? (await ask({ what: 'Access key id', flag: '--storage-access-key-id' }));
  const secretAccessKey =
    known.secretAccessKey ??
    (await ask({ what: 'Secret access key', flag: 'INLET_STORAGE_SECRET_ACCESS_KEY, or --from', isSecret: true }));
  const where = endpoint === undefined || endpoint === '' ? {} : { endpoint };
  return { ...where, region, bucket, prefix, accessKeyId, secretAccessKey };
}
