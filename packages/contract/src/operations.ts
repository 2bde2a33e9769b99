import { z } from 'zod';
import { attributeListSchema } from './attribute.ts';
import {
  importErrorListSchema,
  importFileListSchema,
  importLogIdSchema,
  importLogListSchema,
  importLogSchema,
  pageQuerySchema,
  queuedAnswerSchema,
  queueDeleteBodySchema,
  queueImportBodySchema,
} from './import-log.ts';

export type Operation = {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly answer: z.ZodType;
  readonly status: number;
};

const imports = '/v1/marketplace/import';

/** Every operation of the API that a partner can call, with what goes in and what comes out. */
export const operations = {
  listImportLogs: { name: 'List import logs', method: 'GET', path: imports, answer: importLogListSchema, status: 200 },
  getImportLog: {
    name: 'Get import log',
    method: 'GET',
    path: `${imports}/:import_log_id`,
    params: importLogIdSchema,
    answer: importLogSchema,
    status: 200,
  },
  queueImport: {
    name: 'Queue an import',
    method: 'POST',
    path: imports,
    body: queueImportBodySchema,
    answer: queuedAnswerSchema,
    status: 202,
  },
  deleteAttributeData: {
    name: 'Delete attribute data',
    method: 'DELETE',
    path: imports,
    body: queueDeleteBodySchema,
    answer: queuedAnswerSchema,
    status: 202,
  },
  listImportErrors: {
    name: 'List the errors of an import',
    method: 'GET',
    path: `${imports}/:import_log_id/errors`,
    params: importLogIdSchema,
    query: pageQuerySchema,
    answer: importErrorListSchema,
    status: 200,
  },
  listImportFiles: {
    name: 'List the files of an import',
    method: 'GET',
    path: `${imports}/:import_log_id/files`,
    params: importLogIdSchema,
    query: pageQuerySchema,
    answer: importFileListSchema,
    status: 200,
  },
  listAttributes: {
    name: 'List attributes',
    method: 'GET',
    path: '/v1/marketplace/attributes',
    answer: attributeListSchema,
    status: 200,
  },
} as const satisfies Record<string, Operation>;

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
