import { join } from 'node:path';
import { configSchema, type Config } from '../../src/entry/config.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { serviceEnvironment, type Topology } from '../../stack/service-environment.ts';

/** Set by the project "replicated-suites", which runs the two-shard tests on shards with two replicas each. */
// oxlint-disable-next-line node/no-process-env -- set by the test runner
const withReplicas = process.env['INLET_TEST_REPLICAS'] === '2';

/** The topologies for tests that run on several. They use the same servers in different clusters. */
export const topologies: readonly Topology[] = withReplicas ? ['replicated'] : ['one', 'two'];

export function actualTopology(topology: Topology): Topology {
  return withReplicas && topology === 'two' ? 'replicated' : topology;
}

export const testBucket = 'inlet-tests';

/** Disables all rate limits, including the limit on invalid keys. Suites that test the limits set their own values. */
export const noLimits = {
  INLET_REQUESTS_PER_KEY: '10000000',
  INLET_REQUESTS_PER_PARTNER: '10000000',
  INLET_WRONG_KEYS_PER_ADDRESS: '10000000',
};

export function environmentFor(stores: { database: string; topology: Topology }): Record<string, string> {
  const addresses = readAddresses();
  return {
    ...serviceEnvironment(addresses, { ...stores, bucket: testBucket }),
    ...noLimits,
    NODE_COMPILE_CACHE: compileCache(),
    // Tests compare exact counts of small audiences. `audience-rounding.test.ts` tests the rounding.
    INLET_MATCHED_UNIT: '1',
    INLET_API_PORT: '0',
  };
}

/** The compile cache saves time, because suites start hundreds of processes that load the same modules. */
export function compileCache(): string {
  return join(readAddresses().directory, 'compile-cache');
}

export function configFor(environment: Readonly<Record<string, string>>): Config {
  return configSchema.parse(environment);
}
