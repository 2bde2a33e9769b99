import { buildApi } from '../adapters/http/server.ts';
import { readConfig } from './config.ts';
import { tlsPathsOf } from './http-settings.ts';
import { createLogger } from './logging.ts';
import { repeat } from './repeat.ts';
import { stopInOrder } from './shutdown.ts';
import { watchTlsFiles } from './tls-files.ts';
import { wireApi } from './wire-api.ts';

const config = readConfig();
const log = createLogger({ name: 'inlet-api', level: config.INLET_LOG_LEVEL });
const tlsPaths = tlsPathsOf(config);
const tls = tlsPaths && watchTlsFiles(tlsPaths, log);
const deps = await wireApi(config, log);
const api = buildApi(deps, log, tls);
const recording = repeat(1_000, () => deps.access.flush(), log);
stopInOrder(log, config.INLET_SHUTDOWN_GRACE_SECONDS, [
  [{ name: 'finish requests', run: () => api.close() }],
  [
    {
      name: 'write recorded calls',
      run: async () => {
        await recording.stop();
        await deps.access.close();
      },
    },
  ],
  [{ name: 'close connections', run: () => deps.close() }],
]);
await deps.observability.serve();
await api.listen({
  host: config.INLET_API_HOST,
  port: config.INLET_API_PORT,
  // Fastify cannot detect that the given server uses TLS.
  listenTextResolver: (address) => `Server listening at ${tls ? address.replace(/^http:/, 'https:') : address}`,
});
