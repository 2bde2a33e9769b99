import { readConfig } from '../config.ts';
import { engineChecks } from './engine-checks.ts';
import { examine, type Finding } from './examine.ts';
import { issuerChecks } from './issuer-checks.ts';
import { postgresChecks } from './postgres-checks.ts';
import { storageChecks } from './storage-checks.ts';

/** Asks every server that the configuration names. */
export function examineAll(): Promise<Finding[]> {
  const config = readConfig();
  return examine([postgresChecks(config), ...engineChecks(config), storageChecks(config), issuerChecks(config)]);
}
