import { spawnSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import { demoAccounts, demoCustomer } from '../../../dev/demo-accounts.ts';
import { ensureUploadRules } from '../../../src/adapters/s3/bucket-settings.ts';
import type { Config } from '../../../src/entry/config.ts';
import { connectSharedStorage } from '../../../src/entry/shared-bucket.ts';
import { configFor } from '../../support/environment.ts';
import { startConsoleProvider } from '../../support/console-sign-in.ts';
import { createPartner } from '../../support/partners.ts';
import { startService } from '../../support/running-service.ts';
import { receiverSettings } from '../../support/webhook-receiver.ts';
import { createConsoleStores } from './console-service.ts';

/** The service that all tests use. */
export type ConsoleRun = {
  readonly url: string;
  readonly environment: Record<string, string>;
  readonly database: string;
  /** The partner that the OpenID provider's accounts belong to. */
  readonly partner: string;
};

/** Builds the console, and starts the service and its OpenID provider. Returns the function that stops them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  buildConsole();
  const { url, stores } = await createConsoleStores({ ...receiverSettings, INLET_SUBSCRIPTION_SECONDS: '1' });
  const { database } = stores;
  const provider = await startConsoleProvider(url);
  const environment = { ...stores.environment, ...provider.settings };
  await allowUploads(configFor(environment), url);
  const [service, partner] = await Promise.all([startService(environment, 'console'), createPartner(environment)]);
  await partner.createCustomer(demoCustomer);
  const stranger = { inlet_role: 'partner', inlet_partner: 'unknown' };
  provider.setAccounts([...demoAccounts(partner.name), { id: 'stranger', name: 'Sam Stranger', claims: stranger }]);
  project.provide('console', { url, environment, database, partner: partner.name });
  return async () => {
    await service.stop();
    await provider.close();
    await stores.drop();
  };
}

/** As `inlet migrate` does. */
async function allowUploads(config: Config, origin: string): Promise<void> {
  const s3 = connectSharedStorage(config);
  await ensureUploadRules(s3, config.INLET_S3_BUCKET, origin);
  s3.destroy();
}

function buildConsole(): void {
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'console:build'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the console could not be built: ${stderr}`);
}

declare module 'vitest' {
  export interface ProvidedContext {
    console: ConsoleRun;
  }
}
