import { postgresChangeFeed } from '../adapters/postgres/change-feed.ts';
import { asCaller } from '../adapters/postgres/db/row-security.ts';
import type { Secret } from '../domain/secret.ts';
import type { AudienceStore } from '../ports/audience-store.ts';
import type { ImportLogStore } from '../ports/import-log-store.ts';
import type { Log } from '../ports/observability.ts';
import { type FollowedRecords, followedRecords } from '../usecases/follow/followed-records.ts';
import type { Config } from './config.ts';

/** Followers of records, and the connection on which changes are heard of. */
export function wireFollowing(parts: {
  readonly config: Config;
  readonly postgresUrl: Secret;
  readonly name: string;
  readonly importLogs: ImportLogStore;
  readonly audiences: AudienceStore;
  readonly log: Log;
}): FollowedRecords & { readonly close: () => Promise<void> } {
  const { config, postgresUrl: url, importLogs, audiences, log } = parts;
  const feed = postgresChangeFeed({ url, name: `${parts.name}-changes`, log });
  const most = {
    ofProcess: config.INLET_MAX_FOLLOWERS,
    ofPartner: config.INLET_MAX_FOLLOWERS_PER_PARTNER,
  };
  return { ...followedRecords({ importLogs, audiences, feed, asCaller, most, log }), close: feed.close };
}
