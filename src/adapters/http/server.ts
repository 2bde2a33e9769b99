import { type ZodTypeProvider, serializerCompiler, validatorCompiler } from '@fastify/type-provider-zod';
import Fastify, { type FastifyBaseLogger } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Limits, RequestLimits } from '../../domain/limits.ts';
import type { AudienceStore } from '../../ports/audience-store.ts';
import type { KeyIssuer, Fingerprint } from '../../ports/crypto.ts';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { CustomerStore, IssuedTokens, AttributeStore, PartnerStore } from '../../ports/partner-store.ts';
import type { AsCaller, RequestWindows } from '../../ports/request-store.ts';
import { limitRequests } from '../../usecases/access/limit-requests.ts';
import type { AccessRecorder } from '../../usecases/access/record-access.ts';
import type { FollowedRecords } from '../../usecases/follow/followed-records.ts';
import type { CompositionDeps } from '../../usecases/report/get-composition.ts';
import type { Api } from './api.ts';
import {
  addAuthentication,
  addCallerScope,
  addCustomerScope,
  findPartnerScopeOf,
  findScopeOf,
} from './authentication.ts';
import { type HttpLimits, type TlsSource, createHttpServer } from './http-limits.ts';
import { addProblemAnswers, answerFrameworkError, answerUnreadable, takeOddRequests } from './problems.ts';
import { addRequestLimit } from './request-limits.ts';
import { OneLineLog } from './request-log.ts';
import { addAudienceOperations } from './routes/audience-operations.ts';
import { addDeleteAttributeData } from './routes/delete-attribute-data.ts';
import { addFollowImportLog } from './routes/follow-import-log.ts';
import { addGetComposition } from './routes/get-composition.ts';
import { addGetImportLog } from './routes/get-import-log.ts';
import { addGetLimits } from './routes/get-limits.ts';
import { type Dependency, addLive, addReady } from './routes/health.ts';
import { addListAttributes } from './routes/list-attributes.ts';
import { addListImportErrors } from './routes/list-import-errors.ts';
import { addListImportFiles } from './routes/list-import-files.ts';
import { addListImportLogs } from './routes/list-import-logs.ts';
import { addQueueImport } from './routes/queue-import.ts';
import { addReference } from './routes/reference.ts';
import { addSecurityHeaders } from './security-headers.ts';

export type ApiDeps = {
  readonly partners: PartnerStore;
  readonly apiKeys: KeyIssuer;
  readonly access: AccessRecorder;
  readonly customers: CustomerStore;
  readonly userTokens: KeyIssuer;
  readonly issuedTokens: IssuedTokens | null;
  readonly importLogs: ImportLogStore;
  readonly fingerprint: Fingerprint;
  readonly attributes: AttributeStore;
  readonly stage: LoadStage;
  readonly audiences: AudienceStore;
  readonly composition: CompositionDeps;
  readonly following: FollowedRecords;
  readonly streamSeconds: number;
  readonly limits: Limits;
  readonly requestLimits: RequestLimits;
  readonly requestWindows: RequestWindows;
  readonly httpLimits: HttpLimits;
  readonly canAssumeRoles: boolean;
  readonly dependencies: readonly Dependency[];
  readonly asCaller: AsCaller;
  /** Adds hooks that come before all others. */
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
    // The caller's own request ids are not taken over: they would let one caller write into another's logs.
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 100 },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, logger),
    // A request on an open connection is carried out while the process ends; the connections to the stores end later.
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
  api.addHook('preClose', async () => deps.following.end());
  takeOddRequests(api);
  addProblemAnswers(api);
  addReference(api);
  addLive(api);
  addReady(api, deps.dependencies);
  api.register(async (scope: Api) => {
    addAuthentication(scope, deps);
    addCallerScope(scope, deps, findPartnerScopeOf);
    addRequestLimit(scope, { requestLimits, requestLimiter: limitRequests({ ...deps, log: logger }) });
    addGetLimits(scope, deps);
    addQueueImport(scope, deps);
    addListImportLogs(scope, deps);
    addGetImportLog(scope, deps);
    addFollowImportLog(scope, deps);
    addDeleteAttributeData(scope, deps);
    addListImportFiles(scope, deps);
    addListImportErrors(scope, deps);
    addListAttributes(scope, deps);
    scope.register(async (audiences: Api) => {
      addCustomerScope(audiences, deps);
      addCallerScope(audiences, deps, findScopeOf);
      addAudienceOperations(audiences, deps);
      addGetComposition(audiences, deps);
    });
  });
  return api;
}
