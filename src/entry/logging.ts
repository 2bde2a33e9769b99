import { type Logger, pino } from 'pino';
import { pathOf } from '../adapters/http/problems.ts';
import { hideKeys } from '../domain/key-format.ts';
import { fieldsOfScope } from './observability/scope.ts';

/**
 * One JSON object per line. Request headers and bodies are never logged, secrets cannot be logged (domain/secret.ts), and
 * a key that a caller put into a path is masked.
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
