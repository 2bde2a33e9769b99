import type { PgBoss } from 'pg-boss';
import type { AudienceStore } from '../../ports/audience-store.ts';
import { postgresAcceptedRequests } from './accepted-requests.ts';
import { clearAudience } from './audiences/clear.ts';
import { endPurge, keepPurging, notePurge, selectDead, takeDue } from './audiences/dead-generations.ts';
import { findAudience } from './audiences/lock-audience.ts';
import { selectAudienceFiles } from './audiences/select-audience-files.ts';
import { selectAudiences } from './audiences/select-audiences.ts';
import { selectFailedLoads } from './audiences/select-failed-loads.ts';
import { appendToAudience, createAudience } from './audiences/submit.ts';
import type { Database } from './connect.ts';
import { selectLoadedFiles } from './files/select-loaded-files.ts';
import { selectAudienceMarks } from './select-marks.ts';

export function postgresAudienceStore(
  db: Database,
  boss: PgBoss,
  requests = postgresAcceptedRequests(db),
): AudienceStore {
  const deps = { db, boss, requests };
  return {
    create: (scope, audience, once = null) => createAudience(deps, scope, audience, once),
    append: (scope, audienceId, load, once = null) => appendToAudience(deps, scope, audienceId, load, once),
    clear: (scope, audienceId, once = null) => clearAudience(deps, scope, audienceId, once),
    find: async (scope, audienceId) => (await selectAudiences(db, scope, { audienceId }))[0] ?? null,
    list: (scope, page) => selectAudiences(db, scope, page),
    // One snapshot: files and counts belong together.
    findWithFiles: (scope, audienceId, limit) =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (tx) => {
          const [audience] = await selectAudiences(tx, scope, { audienceId });
          return audience ? { audience, files: await selectAudienceFiles(tx, scope, audienceId, limit) } : null;
        }),
    marksOf: (audienceIds) => selectAudienceMarks(db, audienceIds),
    listLoadedFiles: async (scope, audienceId, page) => {
      const audience = await findAudience(db, scope, audienceId);
      if (!audience) return [];
      const { partnerId } = scope;
      return selectLoadedFiles(db, { partnerId, audienceId, generation: audience.generation }, page);
    },
    listFailedLoads: async (scope, audienceId, page) => {
      const audience = await findAudience(db, scope, audienceId);
      return audience ? selectFailedLoads(db, { audienceId, generation: audience.generation }, page) : [];
    },
    takeDue: (limit) => takeDue(db, limit),
    listDead: (limit) => selectDead(db, limit),
    keepPurging: (partnerIds) => keepPurging(db, partnerIds),
    endPurge: (partnerIds, seconds) => endPurge(db, partnerIds, seconds),
    notePurge: (generation, rows) => notePurge(db, generation, rows),
  };
}
