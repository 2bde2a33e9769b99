import { readAddresses } from '../stack/addresses.ts';
import { serviceEnvironment } from '../stack/service-environment.ts';

/** The environment of `npm run dev`, with all shards of the stack. */
export function devEnvironment(apiPort: number, ofProvider: Readonly<Record<string, string>>): Record<string, string> {
  const addresses = readAddresses();
  const topology = addresses.clickhouse.clusters.two === undefined ? 'one' : 'two';
  const own = { database: 'inlet_dev', bucket: 'inlet-dev', topology } as const;
  return {
    ...serviceEnvironment(addresses, own),
    INLET_ENVIRONMENT: 'dev',
    INLET_API_PORT: String(apiPort),
    INLET_LOG_LEVEL: 'info',
    ...ofProvider,
  };
}
