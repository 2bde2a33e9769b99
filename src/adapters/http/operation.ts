import type { FastifyReply, FastifyRequest, LogLevel } from 'fastify';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { RequiredScope } from '../../domain/caller.ts';
import type { FailureCode } from '../../domain/failure-catalog.ts';
import type { FieldError } from '../../domain/failure.ts';
import type { Api } from './api.ts';

/** One operation of the API, as the OpenAPI document describes it. The acceptance suite sends the examples. */
export type Operation<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> = {
  /**
   * The `operationId` in the OpenAPI document, the method name in the SDK, and the operation name in logs and metrics.
   */
  readonly id: string;
  readonly tag:
    | 'imports'
    | 'audiences'
    | 'uploads'
    | 'events'
    | 'webhooks'
    | 'privacy'
    | 'keys'
    | 'customers'
    | 'limits'
    | 'operator'
    | 'health';
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Set if the operation can be repeated without an idempotency key although its method is not GET. */
  readonly isRead?: true;
  /** Set if sending the request again does no harm, so that it needs no `Idempotency-Key`. */
  readonly isRepeatable?: true;
  readonly deprecated?: boolean;
  /** Absent for operations that need no API key. */
  readonly scope?: RequiredScope;
  readonly summary: string;
  readonly description: string;
  /** The schemas' metadata contains the descriptions and examples of path and query parameters. */
  readonly params?: Params;
  readonly query?: Query;
  /** Request headers that this operation reads. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly example: string }>>;
  readonly body?: Body;
  readonly bodyExamples?: Readonly<Record<string, { readonly summary: string; readonly value: z.input<Body> }>>;
  readonly response: DocumentedResponse & {
    readonly status: number;
    /** Absent for responses without a body. For an event stream, this is the data of each event. */
    readonly schema?: Result;
    readonly example?: z.input<Result>;
  };
  /**
   * Responses with other statuses. A response with an example has the same schema as `response`. A response without an
   * example has no body.
   */
  readonly otherResponses?: Readonly<Record<number, DocumentedResponse & { readonly example?: z.input<Result> }>>;
  /** Problems specific to this operation, by code. The generator adds problems that many operations share. */
  readonly problems: DocumentedProblems;
};

type DocumentedResponse = {
  readonly description: string;
  /** Example of the same response as CSV, for `Accept: text/csv`. */
  readonly csv?: string;
  /** Example of the event stream. */
  readonly events?: string;
  /** Example of the `Location` header. */
  readonly location?: string;
  /** Whether the response has a `Link` header to the next page. */
  readonly isPaged?: true;
  /** Whether the response has the headers of a conditional GET. */
  readonly isConditional?: true;
};

export type DocumentedProblems = Readonly<Partial<Record<FailureCode, ProblemExample>>>;

type ProblemExample = { readonly detail: string; readonly errors?: readonly FieldError[] };

/** Declared as a method, so that a handler with typed parameters is assignable to a handler without them. */
type Handler<Request, Result> = {
  handle(request: Request, reply: FastifyReply): Promise<Result | FastifyReply | Readable | undefined>;
}['handle'];

type FastifyOptions = { readonly exposeHeadRoute?: boolean; readonly logLevel?: LogLevel };

/** An operation with its handler. */
export type Route<Deps> = Operation & {
  readonly handler: (deps: Deps) => Handler<FastifyRequest, unknown>;
  readonly options?: FastifyOptions;
};

/** Derives the types of the handler's request and result from the operation's schemas. */
export function defineRoute<
  Deps,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Result extends z.ZodType,
>(
  route: Operation<Params, Query, Body, Result> & {
    readonly options?: FastifyOptions;
    readonly handler: (
      deps: Deps,
    ) => Handler<
      FastifyRequest<{ Params: z.output<Params>; Querystring: z.output<Query>; Body: z.output<Body> }>,
      z.input<Result>
    >;
  },
): Route<Deps> {
  return route;
}

declare module 'fastify' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be extended
  export interface FastifyContextConfig {
    /** The name of the operation in logs and metrics. */
    operation?: string;
    scope?: RequiredScope;
  }
}

/** Writes reject unknown parameters, such as `dry_run`, because a caller may rely on their effect. */
const noParameters = z.strictObject({});

export function addRoute<Deps>(api: Api, deps: Deps, route: Route<Deps>): void {
  const { id, tag, method, path, scope, params, query, body, response, otherResponses = {}, options } = route;
  const others = Object.entries(otherResponses).filter(([, { example }]) => example !== undefined);
  const statuses = [String(response.status), ...others.map(([status]) => status)];
  const querystring = query ?? (method === 'GET' ? undefined : noParameters);
  // The handler serializes each event of a stream.
  const hasBody = response.schema !== undefined && response.events === undefined;
  api.route({
    ...options,
    method,
    url: path,
    schema: {
      ...(params ? { params } : {}),
      ...(querystring ? { querystring } : {}),
      ...(body ? { body } : {}),
      ...(hasBody ? { response: Object.fromEntries(statuses.map((status) => [status, response.schema])) } : {}),
    },
    config: { operation: tag === 'health' ? tag : id, ...(scope ? { scope } : {}) },
    handler: route.handler(deps),
  });
}
