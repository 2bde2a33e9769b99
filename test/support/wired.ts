import { createLogger } from '../../src/entry/logging.ts';
import type { Config } from '../../src/entry/config.ts';
import { connectShards } from '../../src/entry/connect-engine.ts';
import { apiDeps } from '../../src/entry/wire-api.ts';
import { cliDeps } from '../../src/entry/wire-cli.ts';
import { connectServers } from '../../src/entry/wire-shared.ts';
import { workerDeps } from '../../src/entry/wire-worker.ts';
import { prefixOfPartner } from '../../src/domain/partner.ts';
import { rememberSecrets } from './known-secrets.ts';
import type { TestStores } from './stores.ts';

export type Wired = Awaited<ReturnType<typeof wireAll>>;

/** Builds the dependencies of the API, the worker, and the operator commands with shared connections. */
export async function wireAll(config: Config, role: { rows?: 'of the caller' } = {}) {
  const log = createLogger({ name: 'test', level: 'silent' });
  const connections = await connectServers(config, { name: 'test', boss: 'send', ...role }, log);
  const connected = connectShards(connections);
  const api = apiDeps(connections, connected);
  return {
    ...cliDeps(connections),
    ...workerDeps(connections, connected),
    ...api,
    close: async (): Promise<void> => {
      await api.closeRecords();
      await api.closeOperator();
      await connections.close();
      await connected.closeEngine();
    },
  };
}

/** The caller must close the result. */
export function wireUp(stores: TestStores): Promise<Wired> {
  return wireAll(stores.config);
}

export type BarePartner = {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly apiKey: string;
};

let serial = 0;

/** Creates a partner without storage credentials, which is fast. */
export async function newBarePartner(deps: Wired): Promise<BarePartner> {
  serial += 1;
  const name = `b-${process.pid}-${Date.now().toString(36)}-${serial}`;
  const prefix = prefixOfPartner(name);
  const { key, hash } = deps.apiKeys.issue();
  const { id } = await deps.partners.create({ name, prefix, keyHash: hash });
  rememberSecrets(key.reveal());
  return { id, name, prefix, apiKey: key.reveal() };
}
