import { type Logger, pino } from 'pino';
import { pathOf } from '../adapters/http/problems.ts';
import { hideKeys } from '../domain/key-format.ts';
import { fieldsOfScope } from './observability/scope.ts';

/**
 * Logs one JSON object per line. Request headers and bodies are never logged, and secrets cannot be logged (see
 * domain/secret.ts). An API key in a request path is masked.
 */
export function createLogger(options: { name: string; level: string }): Logger {
  return pino({
    name: options.name,
    level: options.level,
    mixin: fieldsOfScope,
    hooks: { streamWrite: hideKeys },
    serializers: {
      req: (request: { id: string; method: string; url: string; ip?: string }) => ({
        id: request.id,
        method: request.method,
        path: pathOf(request),
        ip: request.ip,
      }),
      res: (reply: { statusCode: number }) => ({ status: reply.statusCode }),
    },
  });
}
