import { openCredentials } from '../adapters/postgres/credentials.ts';
import type { Database } from '../adapters/postgres/db/tables.ts';
import { partnerObjectStore } from '../adapters/s3/partner-object-store.ts';
import { Failure } from '../domain/failure.ts';
import { pathType } from '../domain/import-log.ts';
import type { Network } from '../domain/network-address.ts';
import { type BucketKeys, type BucketRole, isRole, parsePartnerPath } from '../domain/partner-bucket.ts';
import type { PartnerId } from '../domain/partner.ts';
import type { Sealer } from '../ports/crypto.ts';
import type { ObjectStore, SourceStorage } from '../ports/object-store.ts';

/** The shared bucket, or the partner's own with the credentials of the job, which live only as long as they are used. */
export function sourceStorage(deps: {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly shared: ObjectStore;
  readonly partnerEndpoint: string | null;
  readonly partnerNetworks: readonly Network[];
  readonly keysOfRole: (role: BucketRole, partnerId: PartnerId) => Promise<BucketKeys>;
  readonly observed: (name: 'sharedBucket' | 'partnerBucket', objects: ObjectStore) => ObjectStore;
}): SourceStorage {
  const shared = deps.observed('sharedBucket', deps.shared);
  return {
    withObjects: async (source, run) => {
      if (source.pathType === pathType.sharedBucket) return run(shared);
      const credentials = await openCredentials(deps.db, deps.sealer, source);
      if (!credentials) throw new Failure('credentials_required', 'The job has no credentials any more.');
      const keys = isRole(credentials) ? await deps.keysOfRole(credentials, source.partnerId) : credentials;
      const { bucket } = parsePartnerPath(source.filePath);
      const { close, ...objects } = partnerObjectStore({
        bucket,
        credentials: keys,
        endpoint: deps.partnerEndpoint,
        networks: deps.partnerNetworks,
      });
      try {
        return await run(deps.observed('partnerBucket', objects));
      } finally {
        close();
      }
    },
  };
}
