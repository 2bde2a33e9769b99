import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from '@fastify/type-provider-zod';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type RawServerDefault } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Limits } from '../../domain/limits.ts';
import type { RequestLimits } from '../../domain/request-limits.ts';
import type { AudienceStore } from '../../ports/audience-store.ts';
import type { CustomerStore } from '../../ports/customer-store.ts';
import type { IssuedTokens } from '../../ports/issued-tokens.ts';
import type { KeyIssuer } from '../../ports/key-issuer.ts';
import type { Fingerprint } from '../../ports/fingerprint.ts';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type { AttributeStore } from '../../ports/attribute-store.ts';
import type { AsCaller } from '../../ports/caller-scope.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import type { RequestWindows } from '../../ports/request-windows.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { FollowedRecords } from '../../usecases/followed-records.ts';
import type { CompositionDeps } from '../../usecases/get-composition.ts';
import { limitRequests } from '../../usecases/limit-requests.ts';
import type { AccessRecorder } from '../../usecases/record-access.ts';
import { addAuthentication } from './authentication.ts';
import { addCallerScope, findPartnerScopeOf } from './caller-scope.ts';
import { addCustomerScope, findScopeOf } from './customer-scope.ts';
import { addGetComposition } from './composition/get-composition.ts';
import type { Dependency } from './health/ready.ts';
import { addAudienceOperations } from './firstparty-audience/operations.ts';
import { openDoor, type FrontDoor, type TlsSource } from './front-door.ts';
import { addLive } from './health/live.ts';
import { addReady } from './health/ready.ts';
import { addGetLimits } from './limits/get-limits.ts';
import { addListAttributes } from './marketplace-attributes/list-attributes.ts';
import { addDeleteAttributeData } from './marketplace-import/delete-attribute-data.ts';
import { addFollowImportLog } from './marketplace-import/follow-import-log.ts';
import { addGetImportLog } from './marketplace-import/get-import-log.ts';
import { addListImportErrors } from './marketplace-import/list-import-errors.ts';
import { addListImportFiles } from './marketplace-import/list-import-files.ts';
import { addListImportLogs } from './marketplace-import/list-import-logs.ts';
import { addQueueImport } from './marketplace-import/queue-import.ts';
import { addProblemAnswers, answerFrameworkError } from './problem-answers.ts';
import { addReference } from './reference/add-reference.ts';
import { addRequestLimit } from './request-limit.ts';
import { OneLineLog } from './request-log.ts';
import { addSecurityHeaders } from './security-headers.ts';
import { answerUnreadable, takeOddRequests } from './unreadable-requests.ts';

export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

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
  readonly frontDoor: FrontDoor;
  readonly canAssumeRoles: boolean;
  readonly dependencies: readonly Dependency[];
  readonly asCaller: AsCaller;
  /** Adds hooks that come before all others. */
  readonly ofRequests: (api: Api) => void;
};

export function buildApi(deps: ApiDeps, logger: FastifyBaseLogger, tls: TlsSource | null = null): Api {
  const { frontDoor, requestLimits } = deps;
  const api: Api = Fastify({
    loggerInstance: logger,
    bodyLimit: requestLimits.maxBodyBytes,
    serverFactory: (handler) => openDoor({ ...frontDoor, maxHeaderBytes: requestLimits.maxHeaderBytes, tls }, handler),
    trustProxy: frontDoor.trustedProxies.length > 0 ? [...frontDoor.trustedProxies] : false,
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
  deps.ofRequests(api);
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
