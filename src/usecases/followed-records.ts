import type { AudienceScope } from '../domain/audience.ts';
import type { ImportLog } from '../domain/import-log.ts';
import { jobStatus } from '../domain/job.ts';
import type { PartnerId } from '../domain/partner.ts';
import type { AudienceStore } from '../ports/audience-store.ts';
import type { AsCaller } from '../ports/caller-scope.ts';
import type { ChangeFeed } from '../ports/change-feed.ts';
import type { ImportLogStore } from '../ports/import-log-store.ts';
import type { Log } from '../ports/log.ts';
import { findAudienceDetails, type AudienceDetails } from './read-audiences.ts';
import { placesFor, type MostFollowers } from './follow-places.ts';
import { recordHub, type RecordHub } from './record-hub.ts';

type OneImport = { readonly partnerId: PartnerId; readonly importLogId: number };
type OneAudience = { readonly scope: AudienceScope; readonly audienceId: number };

export type FollowedRecords = {
  readonly imports: RecordHub<OneImport, ImportLog>;
  readonly audiences: RecordHub<OneAudience, AudienceDetails>;
  /** Those who wait are answered, and streams end. */
  readonly end: () => void;
};

type Deps = {
  readonly importLogs: ImportLogStore;
  readonly audiences: AudienceStore;
  readonly feed: ChangeFeed;
  /** A record is read for those who follow it, by whoever notices that it has changed. */
  readonly asCaller: AsCaller;
  readonly most: MostFollowers;
  readonly log: Log;
};

export function followedRecords(deps: Deps): FollowedRecords {
  const { feed, log, asCaller } = deps;
  const shared = { feed, log, places: placesFor(deps.most) };
  const imports = recordHub<OneImport, ImportLog>(
    {
      idOf: ({ importLogId }) => importLogId,
      partnerOf: ({ partnerId }) => partnerId,
      keyOf: ({ partnerId, importLogId }) => `${partnerId} ${importLogId}`,
      marksOf: (ids) => deps.importLogs.marksOf(ids),
      read: ({ partnerId, importLogId }) =>
        asCaller({ partnerId, customerId: null }, () => deps.importLogs.find(partnerId, importLogId)),
      // Bytes and rows are noted as they are read.
      isMoving: ({ status }) => status === jobStatus.running,
    },
    shared,
  );
  const audiences = recordHub<OneAudience, AudienceDetails>(
    {
      idOf: ({ audienceId }) => audienceId,
      partnerOf: ({ scope }) => scope.partnerId,
      keyOf: ({ scope, audienceId }) => `${scope.partnerId} ${scope.customerId} ${audienceId}`,
      marksOf: (ids) => deps.audiences.marksOf(ids),
      read: ({ scope, audienceId }) => asCaller(scope, () => findAudienceDetails(deps, scope, audienceId)),
      isMoving: () => false,
    },
    shared,
  );
  return {
    imports,
    audiences,
    end: () => {
      imports.end();
      audiences.end();
    },
  };
}
