import { hostname, userInfo } from 'node:os';
import { postgresApiKeyStore } from '../../src/adapters/postgres/api-key-store.ts';
import { postgresAttributeStore } from '../../src/adapters/postgres/attribute-store.ts';
import { postgresCustomerStore } from '../../src/adapters/postgres/customer-store.ts';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import { postgresPartnerRemovals } from '../../src/adapters/postgres/partner-removals.ts';
import { postgresPartnerStore } from '../../src/adapters/postgres/partner-store.ts';
import { connectSharedStorage } from '../../src/entry/shared-bucket.ts';
import { randomKeys } from '../../src/adapters/vault/keys.ts';
import { storageProvisioner } from '../../src/entry/storage-provisioner.ts';
import { configFor } from './environment.ts';
import { silentLog } from './silent-log.ts';

/** The dependencies of the operator commands that tests use for setup. */
export type Operator = {
  readonly partners: ReturnType<typeof postgresPartnerStore>;
  readonly removals: ReturnType<typeof postgresPartnerRemovals>;
  readonly keys: ReturnType<typeof postgresApiKeyStore>;
  readonly customers: ReturnType<typeof postgresCustomerStore>;
  readonly attributes: ReturnType<typeof postgresAttributeStore>;
  readonly apiKeys: ReturnType<typeof randomKeys>;
  readonly userTokens: ReturnType<typeof randomKeys>;
  readonly storage: ReturnType<typeof storageProvisioner>;
};

/**
 * Runs operator use cases in the test process. Running the operator CLI instead takes 1.2 s per command, because each
 * command starts a process.
 */
export async function asOperator<T>(
  environment: Readonly<Record<string, string>>,
  run: (operator: Operator) => Promise<T>,
): Promise<T> {
  const config = configFor(environment);
  const db = connectPostgres({
    url: config.INLET_POSTGRES_URL,
    name: 'inlet-cli',
    actor: `${userInfo().username}@${hostname()}`,
    maxConnections: 2,
    log: silentLog,
  });
  const s3 = connectSharedStorage(config);
  try {
    return await run({
      partners: postgresPartnerStore(db),
      removals: postgresPartnerRemovals(db),
      keys: postgresApiKeyStore(db),
      customers: postgresCustomerStore(db),
      attributes: postgresAttributeStore(db),
      apiKeys: randomKeys('apiKey', config.INLET_ENVIRONMENT),
      userTokens: randomKeys('userToken', config.INLET_ENVIRONMENT),
      storage: storageProvisioner(config, s3),
    });
  } finally {
    s3.destroy();
    await db.destroy();
  }
}
