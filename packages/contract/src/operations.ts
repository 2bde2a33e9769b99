import { z } from 'zod';
import { attributeListSchema, attributePageSchema } from './attribute.ts';
import { compositionParamsSchema, compositionQuerySchema, compositionSchema } from './composition.ts';
import {
  appendFilesBodySchema,
  audienceDetailsSchema,
  audienceIdSchema,
  audienceListSchema,
  audiencePageSchema,
  clearAudienceBodySchema,
  createAudienceBodySchema,
  createdAudienceSchema,
} from './audience.ts';
import {
  importFileListSchema,
  importLogIdSchema,
  importLogListSchema,
  importLogPageSchema,
  importLogSchema,
  queuedAnswerSchema,
  queueDeleteBodySchema,
  queueImportBodySchema,
} from './import-log.ts';
import { limitsSchema } from './limits.ts';
import { loadErrorListSchema, pageQuerySchema } from './load-error.ts';

/** What an API key must be for. `any`: whatever it is for. */
export type RequiredScope = 'marketplace:read' | 'marketplace:write' | 'audience:read' | 'audience:write' | 'any';

export type Operation = {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Absent where no key is needed. */
  readonly scope?: RequiredScope;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Absent where the answer has no body. */
  readonly answer?: z.ZodType;
  /** Instead of an answer: what the data of each server-sent event is. */
  readonly events?: z.ZodType;
  readonly status: number;
};

const imports = '/v1/marketplace/import';
const audiences = '/v2/firstparty/audience';

/** Every operation of the API that a partner can call, with what goes in and what comes out. */
export const operations = {
  listImportLogs: {
    name: 'List import logs',
    method: 'GET',
    path: imports,
    scope: 'marketplace:read',
    query: importLogPageSchema,
    answer: importLogListSchema,
    status: 200,
  },
  getImportLog: {
    name: 'Get import log',
    method: 'GET',
    path: `${imports}/:import_log_id`,
    scope: 'marketplace:read',
    params: importLogIdSchema,
    answer: importLogSchema,
    status: 200,
  },
  followImportLog: {
    name: 'Follow an import log',
    method: 'GET',
    path: `${imports}/:import_log_id/events`,
    scope: 'marketplace:read',
    params: importLogIdSchema,
    events: importLogSchema,
    status: 200,
  },
  queueImport: {
    name: 'Queue an import',
    method: 'POST',
    path: imports,
    scope: 'marketplace:write',
    body: queueImportBodySchema,
    answer: queuedAnswerSchema,
    status: 202,
  },
  deleteAttributeData: {
    name: 'Delete attribute data',
    method: 'DELETE',
    path: imports,
    scope: 'marketplace:write',
    body: queueDeleteBodySchema,
    answer: queuedAnswerSchema,
    status: 202,
  },
  listImportErrors: {
    name: 'List the errors of an import',
    method: 'GET',
    path: `${imports}/:import_log_id/errors`,
    scope: 'marketplace:read',
    params: importLogIdSchema,
    query: pageQuerySchema,
    answer: loadErrorListSchema,
    status: 200,
  },
  listImportFiles: {
    name: 'List the files of an import',
    method: 'GET',
    path: `${imports}/:import_log_id/files`,
    scope: 'marketplace:read',
    params: importLogIdSchema,
    query: pageQuerySchema,
    answer: importFileListSchema,
    status: 200,
  },
  listAttributes: {
    name: 'List attributes',
    method: 'GET',
    path: '/v1/marketplace/attributes',
    scope: 'marketplace:read',
    query: attributePageSchema,
    answer: attributeListSchema,
    status: 200,
  },
  getLimits: { name: 'Get limits', method: 'GET', path: '/v1/limits', scope: 'any', answer: limitsSchema, status: 200 },
  listAudiences: {
    name: 'List audiences',
    method: 'GET',
    path: audiences,
    scope: 'audience:read',
    query: audiencePageSchema,
    answer: audienceListSchema,
    status: 200,
  },
  getAudience: {
    name: 'Get audience details',
    method: 'GET',
    path: `${audiences}/:audience_id`,
    scope: 'audience:read',
    params: audienceIdSchema,
    answer: audienceDetailsSchema,
    status: 200,
  },
  followAudience: {
    name: 'Follow an audience',
    method: 'GET',
    path: `${audiences}/:audience_id/events`,
    scope: 'audience:read',
    params: audienceIdSchema,
    events: audienceDetailsSchema,
    status: 200,
  },
  createAudience: {
    name: 'Create audience',
    method: 'POST',
    path: audiences,
    scope: 'audience:write',
    body: createAudienceBodySchema,
    answer: createdAudienceSchema,
    status: 201,
  },
  appendFiles: {
    name: 'Append files',
    method: 'PATCH',
    path: `${audiences}/:audience_id`,
    scope: 'audience:write',
    params: audienceIdSchema,
    body: appendFilesBodySchema,
    status: 204,
  },
  clearAudience: {
    name: 'Clear audience',
    method: 'PUT',
    path: `${audiences}/:audience_id`,
    scope: 'audience:write',
    params: audienceIdSchema,
    body: clearAudienceBodySchema,
    status: 204,
  },
  listAudienceErrors: {
    name: 'List the errors of an audience',
    method: 'GET',
    path: `${audiences}/:audience_id/errors`,
    scope: 'audience:read',
    params: audienceIdSchema,
    query: pageQuerySchema,
    answer: loadErrorListSchema,
    status: 200,
  },
  getComposition: {
    name: 'Get the composition of an audience',
    method: 'GET',
    path: '/v2/firstparty/segments/:default_warehouse_segment_id/composition',
    scope: 'audience:read',
    params: compositionParamsSchema,
    query: compositionQuerySchema,
    answer: compositionSchema,
    status: 200,
  },
} as const satisfies Record<string, Operation>;

/** Decision 28: the same operations at the path that the spec's heading names; deprecated. */
export function deprecatedPathOf(path: string): string {
  return path.replace(audiences, '/v1/firstparty/audience');
}

/** The fields of a schema by their names, nested ones as `outer.inner`; of a list, those of its items. */
export function fieldsOf(schema: unknown): string[] {
  if (schema instanceof z.ZodArray) return fieldsOf(schema.element);
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return fieldsOf(schema.unwrap());
  }
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries<unknown>(schema.shape).flatMap(([name, inner]) => [
    name,
    ...fieldsOf(inner).map((field) => `${name}.${field}`),
  ]);
}
