import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { z } from 'zod';
import { type Answer, answerChecker } from '../support/openapi/check-answer.ts';
import { type DescribedOperation, type OpenApi, operationsOf } from '../support/openapi/document.ts';
import { validatorsOf } from '../support/openapi/validators.ts';
import type { FuzzedRequest } from './fuzzed-request.ts';

export type ResponseChecker = {
  readonly operationOf: (request: FuzzedRequest) => DescribedOperation | undefined;
  /** Returns the ways in which a response violates the document. */
  readonly findViolations: (request: FuzzedRequest, answer: Answer) => string[];
};

/**
 * Statuses of responses to requests that match no operation: malformed paths, unknown paths, and unsupported methods.
 */
const withoutOperation: ReadonlySet<number> = new Set([400, 404, 405, 413, 415]);
const notReadySchema = z.looseObject({ code: z.literal('report_not_ready') });

export function responseChecker(document: OpenApi): ResponseChecker {
  const check = answerChecker(document);
  const { errorsOf } = validatorsOf(document);
  const operations = operationsOf(document).map((operation) => ({
    operation,
    pattern: new RegExp(`^${operation.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`),
  }));
  const operationOf = ({ method, path }: FuzzedRequest): DescribedOperation | undefined => {
    const [plain = ''] = path.replace(/^http:\/\/x/, '').split('?');
    if (!isDecodable(plain)) return undefined;
    return operations.find(({ operation, pattern }) => operation.method === method && pattern.test(plain))?.operation;
  };

  /** The service must not accept a body that the document forbids. */
  function wronglyAccepted(operation: DescribedOperation, { body }: FuzzedRequest, { status }: Answer): string[] {
    if (status >= 300 || !operation.requestBody || !body || body.length === 0) return [];
    // TextDecoder removes a byte-order mark, as the service does.
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    const place = `${operation.place}/requestBody/content/application~1json/schema`;
    return errorsOf(place, withTrimmedName(value)).map((violation) => `the body was accepted: ${violation}`);
  }

  return {
    operationOf,
    findViolations: (request, answer) => {
      if (request.method === 'HEAD')
        return answer.status >= 500 || answer.text !== '' ? [`HEAD: ${answer.status}`] : [];
      if (answer.status >= 500 && !notReadySchema.safeParse(parse(answer.text)).success) {
        return [`${answer.status}: ${answer.text}`];
      }
      const operation = operationOf(request);
      if (operation) return [...check(operation, answer), ...wronglyAccepted(operation, request, answer)];
      return withoutOperation.has(answer.status) && problemSchema.strict().safeParse(parse(answer.text)).success
        ? []
        : [`no operation and no problem: ${answer.status} ${answer.text}`];
    },
  };
}

function isDecodable(path: string): boolean {
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The service trims names before validation, which a JSON schema cannot express. */
function withTrimmedName(value: unknown): unknown {
  const named = z.looseObject({ name: z.string() }).safeParse(value);
  return named.success ? { ...named.data, name: named.data.name.trim() } : value;
}
