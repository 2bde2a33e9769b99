import Fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { ReportLimits } from '../../domain/composition/budget.ts';
import type { Limits, RequestLimits } from '../../domain/limits.ts';
import type { Quotas } from '../../domain/quota.ts';
import type { AudienceStore } from '../../ports/audience-store.ts';
import type { KeyIssuer, Fingerprint } from '../../ports/crypto.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { StorageKeys } from '../../ports/object-store.ts';
import type { OwnAttributes, OwnCustomers, OwnKeys, OwnStorageKeys } from '../../ports/own-access.ts';
import type {
  ApiKeyStore,
  CustomerStore,
  IssuedTokens,
  AttributeStore,
  PartnerStore,
} from '../../ports/partner-store.ts';
import type { BudgetStore } from '../../ports/report-store.ts';
import type { AsCaller, RequestWindows } from '../../ports/request-store.ts';
import type { UsageStore } from '../../ports/usage-store.ts';
import type { DryRunDeps } from '../../usecases/accept/dry-run-import.ts';
import type { RejectsDeps } from '../../usecases/rejects/request-rejects.ts';
import type { UploadDeps } from '../../usecases/accept/upload-files.ts';
import { limitRequests } from '../../usecases/access/limit-requests.ts';
import type { AccessRecorder } from '../../usecases/access/record-access.ts';
import type { FollowedRecords } from '../../usecases/follow/followed-records.ts';
import type { FollowerLimits } from '../../usecases/follow/record-broadcaster.ts';
import type { CompositionDeps } from '../../usecases/report/get-composition.ts';
import type { OverlapDeps } from '../../usecases/report/get-overlap.ts';
import type { Api } from './api.ts';
import {
  addAuthentication,
  addCallerScope,
  addCustomerScope,
  addOperatorAuthentication,
  findPartnerScopeOf,
  findCustomerScopeOf,
} from './authentication.ts';
import { type ConsoleDeps, addConsole } from './console/console.ts';
import { type HttpLimits, type TlsSource, acceptEmptyJsonBodies, createHttpServer } from './http-limits.ts';
import { addRoute } from './operation.ts';
import { addProblemAnswers, answerFrameworkError, answerUnparsable, handleUnusualHeaders } from './problems.ts';
import { addRequestLimit } from './request-limits.ts';
import { logCompleted, logErrored } from './request-log.ts';
import { audienceRoutes, deprecatedRoutes, operatorRoutes, partnerRoutes, publicRoutes } from './routes.ts';
import type { Dependency } from './routes/health.ts';
import type { OperatorDeps } from './routes/operator/operator-deps.ts';
import { addReference } from './routes/reference.ts';
import type { SubscriptionDeps } from './routes/subscriptions.ts';
import type { DeletionDeps } from './routes/deletions.ts';
import type { WebhookDeps } from './routes/webhooks.ts';
import { addSecurityHeaders } from './security-headers.ts';
import { addUnreadLimit } from './unread-responses.ts';
import { type ZodTypeProvider, serializerCompiler, validatorCompiler } from './validation.ts';

/** A route is marked as deprecated at least a year before it is removed. */
const deprecation = { since: Date.UTC(2026, 10, 15) / 1000, sunset: new Date(Date.UTC(2027, 11, 1)).toUTCString() };

export type ApiDeps = UploadDeps &
  RejectsDeps &
  SubscriptionDeps &
  WebhookDeps &
  DeletionDeps &
  DryRunDeps & {
    readonly partners: PartnerStore;
    readonly apiKeys: KeyIssuer;
    readonly access: AccessRecorder;
    readonly customers: CustomerStore;
    readonly userTokens: KeyIssuer;
    readonly issuedTokens: IssuedTokens | null;
    readonly importLogs: ImportLogStore;
    readonly fingerprint: Fingerprint;
    readonly attributes: AttributeStore;
    readonly ownAttributes: OwnAttributes;
    readonly keys: Pick<ApiKeyStore, 'list'>;
    readonly ownKeys: OwnKeys;
    readonly ownCustomers: OwnCustomers;
    readonly ownStorageKeys: OwnStorageKeys;
    /** Null if the API cannot manage the storage. */
    readonly storageKeys: StorageKeys | null;
    readonly stage: LoadStage;
    readonly audiences: AudienceStore;
    readonly composition: CompositionDeps;
    readonly overlap: OverlapDeps;
    readonly budget: BudgetStore;
    readonly events: EventLog;
    readonly reportLimits: ReportLimits;
    readonly following: FollowedRecords;
    readonly followerLimits: FollowerLimits;
    readonly streamSeconds: number;
    readonly limits: Limits;
    readonly quotas: Quotas;
    readonly usage: UsageStore;
    readonly requestLimits: RequestLimits;
    readonly requestWindows: RequestWindows;
    readonly httpLimits: HttpLimits;
    readonly canAssumeRoles: boolean;
    readonly dependencies: readonly Dependency[];
    /** Null if there is no console. */
    readonly console: ConsoleDeps | null;
    readonly asCaller: AsCaller;
    /** Null if there is no console. */
    readonly operator: OperatorDeps | null;
    /** Adds hooks that run before all others. */
    readonly instrumentRequests: (api: Api) => void;
  };

export function buildApi(deps: ApiDeps, logger: FastifyBaseLogger, tls: TlsSource | null = null): Api {
  const { httpLimits, requestLimits } = deps;
  const api: Api = Fastify({
    loggerInstance: logger,
    bodyLimit: requestLimits.maxBodyBytes,
    serverFactory: (handler) =>
      createHttpServer({ ...httpLimits, maxHeaderBytes: requestLimits.maxHeaderBytes, tls }, handler),
    trustProxy: httpLimits.trustedProxies.length > 0 ? [...httpLimits.trustedProxies] : false,
    // Ignore request IDs from callers, because IDs from different callers could collide in the log.
    genReqId: () => randomUUID(),
    // The ID of an upload contains the path of its file.
    routerOptions: { maxParamLength: 4_096 },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: (error, socket) => answerUnparsable(error, socket, logger),
    // During shutdown, requests on open connections are still served, because the stores are closed later.
    return503OnClosing: false,
    logController: new OneLineLog(),
  }).withTypeProvider<ZodTypeProvider>();
  api.removeContentTypeParser('text/plain');
  api.setValidatorCompiler(validatorCompiler);
  api.setSerializerCompiler(serializerCompiler);
  deps.instrumentRequests(api);
  api.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  addSecurityHeaders(api);
  addUnreadLimit(api);
  api.addHook('preClose', async () => deps.following.end());
  handleUnusualHeaders(api);
  addProblemAnswers(api);
  addReference(api);
  if (deps.console) addConsole(api, deps, deps.console);
  for (const route of publicRoutes) addRoute(api, deps, route);
  api.register(async (authenticated: Api) => {
    addAuthentication(authenticated, deps);
    addCallerScope(authenticated, deps, findPartnerScopeOf);
    addRequestLimit(authenticated, { requestLimits, requestLimiter: limitRequests({ ...deps, log: logger }) });
    acceptEmptyJsonBodies(authenticated);
    for (const route of partnerRoutes) addRoute(authenticated, deps, route);
    authenticated.register(async (audiences: Api) => {
      addCustomerScope(audiences, deps);
      addCallerScope(audiences, deps, findCustomerScopeOf);
      for (const route of audienceRoutes) addRoute(audiences, deps, route);
      audiences.register(async (deprecated: Api) => {
        deprecated.addHook('onSend', async (_request, reply) => {
          reply.header('deprecation', `@${deprecation.since}`).header('sunset', deprecation.sunset);
        });
        for (const route of deprecatedRoutes) addRoute(deprecated, deps, route);
      });
    });
  });
  api.register(async (operators: Api) => {
    addOperatorAuthentication(operators, deps);
    for (const route of operatorRoutes) addRoute(operators, deps, route);
  });
  return api;
}

/** Logs one line per request when the request completes. The arrival of a request is logged at level `debug`. */
class OneLineLog extends LogController {
  override incomingRequest(request: FastifyRequest): void {
    request.log.debug({ req: request }, 'incoming request');
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    if (error) logErrored(error, request, reply);
    else logCompleted(request, reply);
  }
}
