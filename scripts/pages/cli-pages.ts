import manifest from '../../packages/cli/package.json' with { type: 'json' };
import { type CatalogueEntry, failureCatalogue } from '../../src/domain/failure-catalogue.ts';

/** packages/cli/src/generated/remedies.ts: what a partner can meet, in an answer or on a record. */
export function cliRemediesPage(): string {
  const entries: readonly [string, CatalogueEntry][] = Object.entries(failureCatalogue);
  const met = entries.filter(([, { isOfCommand }]) => isOfCommand !== true);
  return [
    '// Generated from src/domain/failure-catalogue.ts by "npm run generate". Do not edit.',
    '',
    '/** What to do about each code. */',
    'export const remedies: Readonly<Record<string, string>> = {',
    ...met.map(([code, { remedy }]) => `  ${code}: ${JSON.stringify(remedy)},`),
    '};',
    '',
  ].join('\n');
}

/** packages/cli/src/generated/version.ts: where package.json is differs between the tree and what partners get. */
export function cliVersionPage(): string {
  return [
    '// Generated from packages/cli/package.json by "npm run generate". Do not edit.',
    '',
    `export const version = '${manifest.version}';`,
    '',
  ].join('\n');
}
