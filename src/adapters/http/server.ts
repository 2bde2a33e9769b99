import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from '@fastify/type-provider-zod';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type RawServerDefault } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Limits } from '../../domain/limits.ts';
import type { AudienceStore } from '../../ports/audience-store.ts';
import type { CustomerStore } from '../../ports/customer-store.ts';
import type { KeyIssuer } from '../../ports/key-issuer.ts';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type { AttributeStore } from '../../ports/attribute-store.ts';
import type { AsCaller } from '../../ports/caller-scope.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { CompositionDeps } from '../../usecases/get-composition.ts';
import { addAuthentication } from './authentication.ts';
import { addCallerScope, findPartnerScopeOf } from './caller-scope.ts';
import { addCustomerScope, findScopeOf } from './customer-scope.ts';
import { addGetComposition } from './composition/get-composition.ts';
import type { Dependency } from './health/ready.ts';
import { addAudienceOperations } from './firstparty-audience/operations.ts';
import { addLive } from './health/live.ts';
import { addReady } from './health/ready.ts';
import { addListAttributes } from './marketplace-attributes/list-attributes.ts';
import { addDeleteAttributeData } from './marketplace-import/delete-attribute-data.ts';
import { addGetImportLog } from './marketplace-import/get-import-log.ts';
import { addListImportErrors } from './marketplace-import/list-import-errors.ts';
import { addListImportFiles } from './marketplace-import/list-import-files.ts';
import { addListImportLogs } from './marketplace-import/list-import-logs.ts';
import { addQueueImport } from './marketplace-import/queue-import.ts';
import { addProblemAnswers, answerFrameworkError } from './problem-answers.ts';
import { addReference } from './reference/add-reference.ts';
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
  readonly customers: CustomerStore;
  readonly userTokens: KeyIssuer;
  readonly importLogs: ImportLogStore;
  readonly attributes: AttributeStore;
  readonly stage: LoadStage;
  readonly audiences: AudienceStore;
  readonly composition: CompositionDeps;
  readonly limits: Limits;
  readonly canAssumeRoles: boolean;
  readonly dependencies: readonly Dependency[];
  readonly asCaller: AsCaller;
  /** Adds hooks that come before all others. */
  readonly ofRequests: (api: Api) => void;
};

/** A delete of a thousand keys of 200 characters fits, in whatever alphabet. */
const maxBodyBytes = 1024 * 1024;

export function buildApi(deps: ApiDeps, logger: FastifyBaseLogger): Api {
  const api: Api = Fastify({
    loggerInstance: logger,
    bodyLimit: maxBodyBytes,
    requestTimeout: 30_000,
    // The caller's own request ids are not taken over: they would let one caller write into another's logs.
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 100 },
    frameworkErrors: answerFrameworkError,
    http: { requireHostHeader: false },
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, logger),
    // A request on an open connection is carried out while the process ends; the connections to the stores end later.
    return503OnClosing: false,
  }).withTypeProvider<ZodTypeProvider>();
  api.removeContentTypeParser('text/plain');
  api.setValidatorCompiler(validatorCompiler);
  api.setSerializerCompiler(serializerCompiler);
  deps.ofRequests(api);
  api.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  takeOddRequests(api);
  addProblemAnswers(api);
  addReference(api);
  addLive(api);
  addReady(api, deps.dependencies);
  api.register(async (scope: Api) => {
    addAuthentication(scope, deps);
    addCallerScope(scope, deps, findPartnerScopeOf);
    addQueueImport(scope, deps);
    addListImportLogs(scope, deps);
    addGetImportLog(scope, deps);
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
