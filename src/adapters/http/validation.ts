import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyTypeProvider } from 'fastify';
import { z } from 'zod';
import { Failure, type FieldError } from '../../domain/failure.ts';

/** Derives the types of requests and responses from the zod schemas of a route. */
// oxlint-disable-next-line typescript/consistent-type-definitions -- Fastify's type providers need `this`
export interface ZodTypeProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
  readonly serializer: this['schema'] extends z.ZodType ? z.input<this['schema']> : unknown;
}

/** A part of a request that has a schema. */
type RequestPart = 'params' | 'querystring' | 'headers' | 'body';

export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (given: unknown) => {
    const part = partNamed(httpPart);
    // Fastify passes null for a missing body.
    const data = part === 'body' && given === null ? undefined : given;
    const { data: value, error } = schema.safeParse(data, { error: (issue) => messageOf(issue, part) });
    return error ? { error: validationFailure(error.issues, part, data) } : { value };
  };

export const serializerCompiler: FastifySerializerCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) =>
    JSON.stringify(z.encode(schema, data));

function partNamed(name: string | undefined): RequestPart {
  return name === 'params' || name === 'querystring' || name === 'headers' ? name : 'body';
}

function validationFailure(issues: readonly z.core.$ZodIssue[], part: RequestPart, data: unknown): Failure {
  if (part === 'params') return new Failure('not_found', invalidIdMessage(issues[0]?.path[0], data));
  return new Failure('invalid_request', 'The request is invalid; see errors.', { fields: fieldErrors(issues, part) });
}

/** An ID that is not a number cannot exist, so the response is `not_found`. */
function invalidIdMessage(name: PropertyKey | undefined, params: unknown): string {
  const { [String(name)]: value } = z.record(z.string(), z.unknown()).parse(params);
  return `"${String(value)}" is not a valid ${String(name).replace(/_id$/, ' ID').replaceAll('_', ' ')}.`;
}

/** Returns one entry for each invalid field. Multiple violations of the same rule are reported only once. */
function fieldErrors(issues: readonly z.core.$ZodIssue[], part: RequestPart): FieldError[] {
  const errors = issues.flatMap((issue) => {
    const at = (path: readonly PropertyKey[], detail: string): FieldError => ({
      pointer: path.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
      ...(part === 'body' ? {} : { parameter: String(path[0]) }),
      detail,
    });
    if (issue.code !== 'unrecognized_keys') return [at(issue.path, issue.message)];
    const what = part === 'body' ? 'field' : 'query parameter';
    return issue.keys.map((key) => at([...issue.path, key], `Unknown ${what} "${key}".`));
  });
  return [...new Map(errors.map((error) => [`${error.pointer} ${error.detail}`, error])).values()];
}

/** Returns the default message for a zod issue. A schema can override it with its own `error`. */
function messageOf(issue: z.core.$ZodRawIssue, part: RequestPart): string {
  const field = fieldName(issue.path ?? [], part);
  if (isMissing(issue)) return `${field} is required.`;
  switch (issue.code) {
    case 'invalid_type':
      return `${field} must be ${typeNames[issue.expected] ?? issue.expected}.`;
    case 'invalid_value':
      return `${field} must be ${listOf(issue.values.map((value) => JSON.stringify(value)))}.`;
    case 'too_small':
      return `${field} must ${boundText('at least', Number(issue.minimum), issue.origin)}.`;
    case 'too_big':
      return `${field} must ${boundText('at most', Number(issue.maximum), issue.origin)}.`;
    case 'unrecognized_keys':
      return `Unknown field ${listOf(issue.keys.map((key) => `"${key}"`))}.`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
      return `${field} is invalid.`;
  }
}

/** Fastify passes `null` to the validator if the body is missing. */
function isMissing({ path = [], input }: z.core.$ZodRawIssue): boolean {
  return input === undefined || (path.length === 0 && input === null);
}

function fieldName(path: readonly PropertyKey[], part: RequestPart): string {
  if (path.length === 0) return part === 'body' ? 'The request body' : `The ${part}`;
  const [first, ...rest] = path;
  return String(first) + rest.map((name) => (typeof name === 'number' ? `[${name}]` : `.${String(name)}`)).join('');
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};

function boundText(bound: 'at least' | 'at most', value: number, origin: string): string {
  const count = value.toLocaleString('en-US');
  if (origin === 'string') {
    return bound === 'at least' && value === 1
      ? 'not be empty'
      : `have ${bound} ${count} ${plural(value, 'character')}`;
  }
  if (origin === 'array') {
    return bound === 'at least' && value === 1
      ? 'not be empty'
      : `have ${bound} ${count} ${value === 1 ? 'entry' : 'entries'}`;
  }
  return `be ${bound} ${count}`;
}

function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

function listOf(items: readonly string[]): string {
  return new Intl.ListFormat('en-US', { type: 'disjunction' }).format(items);
}
