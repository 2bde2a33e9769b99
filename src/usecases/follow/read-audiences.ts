import {
  type Audience,
  type AudienceReach,
  type AudienceScope,
  type AudienceSummary,
  roundMatches,
} from '../../domain/audience.ts';
import type { HistoryEntry, HistoryPosition } from '../../domain/audience-history.ts';
import { Failure } from '../../domain/failure.ts';
import type { AudienceFilter, ErrorFilter } from '../../domain/list-filters.ts';
import type { AudienceFilePage, AudienceStore, FileEntryPage } from '../../ports/audience-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { CustomerStore } from '../../ports/partner-store.ts';
import type { AsCaller } from '../../ports/request-store.ts';
import { type ErrorPage, type LoadError, listLoadErrors } from './list-load-errors.ts';

type Deps = { readonly audiences: AudienceStore };

/**
 * The audiences as the API shows them. Every read goes through this store, so that no operation can return the exact
 * number of matched devices of a small audience.
 */
export function roundedAudiences(audiences: AudienceStore, unit: number): AudienceStore {
  return {
    ...audiences,
    find: async (...about) => {
      const audience = await audiences.find(...about);
      return audience && roundMatches(audience, unit);
    },
    list: async (...about) => (await audiences.list(...about)).map((audience) => roundMatches(audience, unit)),
    findWithFiles: async (...about) => {
      const found = await audiences.findWithFiles(...about);
      return found && { ...found, audience: roundMatches(found.audience, unit) };
    },
    findDetails: async (...about) => {
      const found = await audiences.findDetails(...about);
      return found && { ...found, audience: roundMatches(found.audience, unit) };
    },
  };
}

/** Maximum number of file entries in a record. The remaining entries are listed page by page. */
export const maxFilesShown = 1_000;

export type AudienceDetails = { readonly audience: Audience; readonly summary: AudienceSummary } & AudienceFilePage;

export async function findAudienceDetails(
  deps: Deps,
  scope: AudienceScope,
  audienceId: number,
  hasFiles: boolean,
): Promise<AudienceDetails | null> {
  return deps.audiences.findDetails(scope, audienceId, hasFiles ? { after: [0, 0], limit: maxFilesShown } : null);
}

export async function getAudience(
  deps: Deps,
  scope: AudienceScope,
  audienceId: number,
  hasFiles: boolean,
): Promise<AudienceDetails> {
  const found = await findAudienceDetails(deps, scope, audienceId, hasFiles);
  if (!found) throw noSuchAudience(audienceId);
  return found;
}

export async function listAudienceFiles(
  deps: Deps,
  scope: AudienceScope,
  audienceId: number,
  page: FileEntryPage,
): Promise<AudienceFilePage> {
  const found = await deps.audiences.findWithFiles(scope, audienceId, page);
  if (!found) throw noSuchAudience(audienceId);
  return found;
}

export async function listAudienceHistory(
  deps: Deps,
  scope: AudienceScope,
  audienceId: number,
  page: { readonly before: HistoryPosition | null; readonly limit: number },
): Promise<readonly HistoryEntry[]> {
  const entries = await deps.audiences.listHistory(scope, audienceId, page);
  if (!entries) throw noSuchAudience(audienceId);
  return entries;
}

type ListDeps = Deps & { readonly customers: Pick<CustomerStore, 'findByName'>; readonly asCaller: AsCaller };

/** Stands for the partner's own audiences and those of all its customers. */
const everyCustomer = '*';

/**
 * Lists the caller's audiences. With `customer`, lists those of that customer instead, which only the partner itself may
 * do.
 */
export async function listAudiences(
  deps: ListDeps,
  scope: AudienceScope,
  page: { readonly beforeId: number; readonly limit: number; readonly filter: AudienceFilter },
  customer?: string,
): Promise<readonly Audience[]> {
  if (customer === undefined) return deps.audiences.list(scope, page);
  if (scope.customerId !== null) throw customerForPartnerOnly();
  const reach = await reachOf(deps, scope, customer);
  if (!reach) return [];
  return deps.asCaller(reach, () => deps.audiences.list(reach, page));
}

/** Returns null if the partner has no such customer. */
async function reachOf(deps: ListDeps, { partnerId }: AudienceScope, customer: string): Promise<AudienceReach | null> {
  if (customer === everyCustomer) return { partnerId, customerId: 'every' };
  const found = await deps.customers.findByName(partnerId, customer);
  return found && { partnerId, customerId: found.id };
}

function customerForPartnerOnly(): Failure {
  const detail = 'customer must be absent when the request acts for a customer.';
  return new Failure('invalid_request', 'The request is invalid; see errors.', {
    fields: [{ pointer: '/customer', parameter: 'customer', detail }],
  });
}

/** Lists paths without files, failed files, and rejected rows. */
export async function listAudienceErrors(
  deps: Deps & { readonly stage: LoadStage },
  scope: AudienceScope,
  audienceId: number,
  page: ErrorPage,
): Promise<readonly LoadError[]> {
  if (!(await deps.audiences.find(scope, audienceId))) throw noSuchAudience(audienceId);
  const { after, limit, filter } = page;
  const ofLoads =
    after.fileId > 0
      ? []
      : await listFailedLoads(deps, scope, audienceId, { afterId: after.row, limit, error: filter });
  const ofFiles = await listLoadErrors(deps, (files) => deps.audiences.listLoadedFiles(scope, audienceId, files), {
    ...page,
    limit: limit - ofLoads.length,
  });
  return [...ofLoads, ...ofFiles];
}

/** Failed loads are listed before all files and ordered by job. */
async function listFailedLoads(
  deps: Deps,
  scope: AudienceScope,
  audienceId: number,
  page: { readonly afterId: number; readonly limit: number; readonly error: ErrorFilter },
): Promise<LoadError[]> {
  const loads = await deps.audiences.listFailedLoads(scope, audienceId, page);
  return loads.map(({ jobId, path, failure: { code, detail } }) => ({
    fileId: 0,
    file: path,
    row: jobId,
    code,
    message: detail,
    column: null,
    text: null,
  }));
}

export function noSuchAudience(audienceId: number): Failure {
  return new Failure('not_found', `Audience ${audienceId} does not exist.`);
}
