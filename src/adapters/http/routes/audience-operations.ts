import { deprecatedPathOf } from '@inlet/contract/operations';
import type { LoadStage } from '../../../ports/load-stage.ts';
import type { WriteAudienceDeps } from '../../../usecases/accept/write-audiences.ts';
import type { StreamDeps } from '../answer-events.ts';
import { takeEmptyBodies } from '../http-limits.ts';
import type { OnceDeps } from '../idempotency.ts';
import type { Api } from '../api.ts';
import { addAppendFiles } from './append-files.ts';
import type { OneAudienceDeps } from './audience-record.ts';
import { addClearAudience } from './clear-audience.ts';
import { addCreateAudience } from './create-audience.ts';
import { addFollowAudience } from './follow-audience.ts';
import { addGetAudience } from './get-audience.ts';
import { addListAudienceErrors } from './list-audience-errors.ts';
import { addListAudiences } from './list-audiences.ts';

type Deps = WriteAudienceDeps & OnceDeps & OneAudienceDeps & StreamDeps & { readonly stage: LoadStage };

/** Decision 35: a year's notice before a route goes. */
const deprecated = { since: Date.UTC(2026, 10, 15) / 1000, until: new Date(Date.UTC(2027, 11, 1)).toUTCString() };

/** The operations at their own paths and, for those who read the spec's heading, at the deprecated ones. */
export function addAudienceOperations(api: Api, deps: Deps): void {
  addAll(api, deps, (path) => path);
  api.register(async (scope: Api) => {
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('deprecation', `@${deprecated.since}`).header('sunset', deprecated.until);
    });
    addAll(scope, deps, deprecatedPathOf);
  });
}

function addAll(api: Api, deps: Deps, at: (path: string) => string): void {
  takeEmptyBodies(api);
  addListAudiences(api, deps, at);
  addGetAudience(api, deps, at);
  addFollowAudience(api, deps, at);
  addCreateAudience(api, deps, at);
  addAppendFiles(api, deps, at);
  addClearAudience(api, deps, at);
  addListAudienceErrors(api, deps, at);
}
