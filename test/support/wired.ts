import { createLogger } from '../../src/entry/logging.ts';
import { wire } from '../../src/entry/wiring.ts';
import { prefixOfPartner } from '../../src/domain/partner.ts';
import { rememberSecrets } from './known-secrets.ts';
import type { TestStores } from './stores.ts';

export type Wired = Awaited<ReturnType<typeof wire>>;

/** Inlet's own parts, in the process of the test; to be closed. */
export function wireUp(stores: TestStores): Promise<Wired> {
  return wire(stores.config, { name: 'test', boss: 'send' }, createLogger({ name: 'test', level: 'silent' }));
}

export type BarePartner = {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly apiKey: string;
};

let serial = 0;

/** A partner without storage credentials of its own: many of them are made in a moment. */
export async function newBarePartner(deps: Wired): Promise<BarePartner> {
  serial += 1;
  const name = `b-${process.pid}-${Date.now().toString(36)}-${serial}`;
  const prefix = prefixOfPartner(name);
  const { key, hash } = deps.apiKeys.issue();
  const { id } = await deps.partners.create({ name, prefix, keyHash: hash });
  rememberSecrets(key.reveal());
  return { id, name, prefix, apiKey: key.reveal() };
}
