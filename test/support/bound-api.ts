import { buildApi } from '../../src/adapters/http/server.ts';
import type { Config } from '../../src/entry/config.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { wireAll } from './wired.ts';

/** Runs the API in the test process, either with its database role as in production or with the owner's privileges. */
export async function startBoundApi(
  config: Config,
  rows: 'of the caller' | 'of all',
): Promise<{ url: string; stop: () => Promise<void> }> {
  const log = createLogger({ name: 'test', level: 'silent' });
  const deps = await wireAll(config, rows === 'of all' ? {} : { rows });
  const api = buildApi(deps, log);
  return {
    url: await api.listen({ host: '127.0.0.1', port: 0 }),
    stop: async () => {
      await api.close();
      await deps.close();
    },
  };
}
