import { readFile, writeFile } from 'node:fs/promises';
import { cliRemediesPage, cliVersionPage } from './pages/cli-pages.ts';
import { chartAlertsPage, chartSchemaPage } from './pages/chart-schema-page.ts';
import { configurationPage } from './pages/configuration-page.ts';
import { errorsPage } from './pages/errors-page.ts';
import { consoleIncidentsPage } from './pages/incidents-page.ts';
import { metricsPage } from './pages/metrics-page.ts';
import { operationsPage } from './pages/operations-page.ts';
import { packagesPage } from './pages/packages-page.ts';
import { openApiPage } from './pages/openapi-page.ts';
import { sdkCodesPage, sdkOperationsPage, sdkSchemasPage } from './pages/sdk-pages.ts';

/**
 * Writes the files that are generated from the code and the lock file. With --check, writes nothing and fails if a file
 * is stale.
 */
const pages = [
  { path: 'docs/errors.md', make: errorsPage },
  { path: 'docs/configuration.md', make: configurationPage },
  { path: 'docs/metrics.md', make: metricsPage },
  { path: 'docs/operations.md', make: operationsPage },
  { path: 'docs/packages.md', make: packagesPage },
  { path: 'deploy/helm/inlet/values.schema.json', make: chartSchemaPage },
  { path: 'deploy/helm/inlet/files/alerts.yml', make: chartAlertsPage },
  { path: 'packages/contract/openapi.json', make: openApiPage },
  { path: 'packages/cli/src/generated/remedies.ts', make: cliRemediesPage },
  { path: 'packages/cli/src/generated/version.ts', make: cliVersionPage },
  { path: 'packages/console/src/generated/incidents.ts', make: consoleIncidentsPage },
  { path: 'packages/sdk/src/generated/codes.ts', make: sdkCodesPage },
  { path: 'packages/sdk/src/generated/operations.ts', make: () => sdkOperationsPage() },
  { path: 'packages/sdk/src/generated/schemas.ts', make: () => sdkSchemasPage() },
];
const checkOnly = process.argv.includes('--check');

for (const { path, make } of pages) {
  const text = make();
  if (!checkOnly) {
    await writeFile(path, text);
    continue;
  }
  const committed = await readFile(path, 'utf8').catch(() => '');
  if (committed !== text) {
    process.stderr.write(`${path} is stale. Run "npm run generate" and commit the file.\n`);
    process.exitCode = 1;
  }
}
