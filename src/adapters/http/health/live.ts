import { healthOperations } from '@inlet/contract/health';
import type { Api } from '../server.ts';

const { path, answer } = healthOperations.getLive;

/** The process runs and answers. Asks nobody: a dead database is no reason to restart the process. */
export function addLive(api: Api): void {
  api.get(path, { logLevel: 'silent', schema: { response: { 200: answer } } }, async () => ({
    status: 'ok' as const,
  }));
}
