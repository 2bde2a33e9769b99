import { liveSchema } from '@inlet/contract/health';
import type { Api } from '../server.ts';

/** The process runs and answers. Asks nobody: a dead database is no reason to restart the process. */
export function addLive(api: Api): void {
  api.get('/health/live', { logLevel: 'silent', schema: { response: { 200: liveSchema } } }, async () => ({
    status: 'ok' as const,
  }));
}
