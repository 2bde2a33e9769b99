import type { AudienceScope } from '../../domain/audience.ts';
import type { ImportLog } from '../../domain/import-log.ts';
import { jobStatus } from '../../domain/job.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type { AudienceStore } from '../../ports/audience-store.ts';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { ChangeFeed } from '../../ports/records.ts';
import type { AsCaller } from '../../ports/request-store.ts';
import { type EventWaits, eventWaits } from './event-waits.ts';
import { type AudienceDetails, findAudienceDetails } from './read-audiences.ts';
import { type FollowerLimits, type RecordBroadcaster, followerLimit, recordBroadcaster } from './record-broadcaster.ts';

type OneImport = { readonly partnerId: PartnerId; readonly importLogId: number };
type OneAudience = { readonly scope: AudienceScope; readonly audienceId: number; readonly hasFiles: boolean };

export type FollowedRecords = {
  readonly imports: RecordBroadcaster<OneImport, ImportLog>;
  readonly audiences: RecordBroadcaster<OneAudience, AudienceDetails>;
  readonly events: EventWaits;
  /** Ends all waits and streams. */
  readonly end: () => void;
};

type Deps = {
  readonly importLogs: ImportLogStore;
  readonly audiences: AudienceStore;
  readonly feed: ChangeFeed;
  /** Changes to event logs. */
  readonly eventFeed: ChangeFeed;
  /** Records are read outside of any request, with the access rights of their subscribers. */
  readonly asCaller: AsCaller;
  readonly limits: FollowerLimits;
  readonly log: Log;
};

export function followedRecords(deps: Deps): FollowedRecords {
  const { feed, log, asCaller } = deps;
  const shared = { feed, log, slots: followerLimit(deps.limits) };
  const imports = recordBroadcaster<OneImport, ImportLog>(
    {
      idOf: ({ importLogId }) => importLogId,
      ownerOf: ({ partnerId }) => ({ partnerId, customerId: null }),
      keyOf: ({ partnerId, importLogId }) => `${partnerId} ${importLogId}`,
      marksOf: (ids) => deps.importLogs.marksOf(ids),
      read: ({ partnerId, importLogId }) =>
        asCaller({ partnerId, customerId: null }, () => deps.importLogs.find(partnerId, importLogId)),
      // The progress of a running import changes without a notification.
      isMoving: ({ status }) => status === jobStatus.running,
    },
    shared,
  );
  const audiences = recordBroadcaster<OneAudience, AudienceDetails>(
    {
      idOf: ({ audienceId }) => audienceId,
      ownerOf: ({ scope }) => scope,
      keyOf: ({ scope, audienceId, hasFiles }) =>
        `${scope.partnerId} ${scope.customerId} ${audienceId}${hasFiles ? ' files' : ''}`,
      marksOf: (ids) => deps.audiences.marksOf(ids),
      read: ({ scope, audienceId, hasFiles }) =>
        asCaller(scope, () => findAudienceDetails(deps, scope, audienceId, hasFiles)),
      // A record with its entries is sent when they change, not once a second with the progress. It takes up to 350 kB.
      isMoving: ({ audience }, { hasFiles }) => !hasFiles && audience.status === jobStatus.running,
    },
    shared,
  );
  const events = eventWaits(deps.eventFeed, shared.slots);
  return {
    imports,
    audiences,
    events,
    end: () => {
      events.end();
      imports.end();
      audiences.end();
    },
  };
}
