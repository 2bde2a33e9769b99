import { buildApi } from '../adapters/http/server.ts';
import { readConfig } from './config.ts';
import { createLogger } from './logging.ts';
import { stopInOrder } from './shutdown.ts';
import { wire } from './wiring.ts';

const config = readConfig();
const log = createLogger({ name: 'inlet-api', level: config.INLET_LOG_LEVEL });
const deps = await wire(config, { name: 'inlet-api', boss: 'send', rows: 'of the caller' }, log);
const api = buildApi(deps, log);
stopInOrder(log, config.INLET_SHUTDOWN_GRACE_SECONDS, [
  [{ name: 'finish requests', run: () => api.close() }],
  [{ name: 'close connections', run: () => deps.close() }],
]);
await deps.observation.serve();
await api.listen({ host: config.INLET_API_HOST, port: config.INLET_API_PORT });
