import type { AudienceDetailsRecord } from '@inlet/contract/audience';
import type { AudienceScope } from '../../../domain/audience.ts';
import type { AudienceStore } from '../../../ports/audience-store.ts';
import type { FollowedRecords } from '../../../usecases/followed-records.ts';
import { getAudience, noSuchAudience, type AudienceDetails } from '../../../usecases/read-audiences.ts';
import type { Followable } from '../answer-record.ts';
import { shownOnce } from '../shown-record.ts';
import { audienceFileRecord, audienceRecord } from './audience-record.ts';

export type OneAudienceDeps = {
  readonly audiences: AudienceStore;
  readonly following: Pick<FollowedRecords, 'audiences'>;
};

const shown = shownOnce(({ audience, files }: AudienceDetails): AudienceDetailsRecord => ({
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
