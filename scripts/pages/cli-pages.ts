import manifest from '../../packages/cli/package.json' with { type: 'json' };
import { failureCatalog } from '../../src/domain/failure-catalog.ts';
import type { CatalogEntry } from '../../src/domain/job-failures.ts';

/**
 * packages/cli/src/generated/remedies.ts: remedies for the codes that a partner can receive in a response or a record.
 */
export function cliRemediesPage(): string {
  const entries: readonly [string, CatalogEntry][] = Object.entries(failureCatalog);
  const partnerCodes = entries.filter(([, { isOfCommand }]) => isOfCommand !== true);
  return [
    '// Generated from src/domain/failure-catalog.ts by "npm run generate". Do not edit.',
    '',
    '/** Remedy for each code. */',
    'export const remedies: Readonly<Record<string, string>> = {',
    ...partnerCodes.map(([code, { remedy }]) => `  ${code}: ${JSON.stringify(remedy)},`),
    '};',
    '',
  ].join('\n');
}

/**
 * packages/cli/src/generated/version.ts. Generated, because the path of package.json differs in the published package.
 */
export function cliVersionPage(): string {
  return [
    '// Generated from packages/cli/package.json by "npm run generate". Do not edit.',
    '',
    `export const version = '${manifest.version}';`,
    '',
  ].join('\n');
}
