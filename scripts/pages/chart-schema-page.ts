import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { configSchema } from '../../src/entry/config.ts';
import { secretSettings } from '../../src/entry/secret-files.ts';

const path = 'deploy/helm/inlet/values.schema.json';

/**
 * Settings that are not secrets but must not be set in `settings` of the chart. The image or the chart sets them, or
 * only one command or the tests use them.
 */
export const notAmongChartSettings = [
  'INLET_SHUTDOWN_GRACE_SECONDS',
  'INLET_CONSOLE_API_KEY_SIGN_IN',
  'INLET_API_HOST',
  'INLET_API_PORT',
  'INLET_METRICS_HOST',
  'INLET_METRICS_PORT',
  'INLET_TLS_CERT_FILE',
  'INLET_TLS_KEY_FILE',
  'INLET_NOTIFICATIONS_HOST',
  'INLET_NOTIFICATIONS_PORT',
  'INLET_STORAGE_ADMIN_ACCESS_KEY_ID',
  'INLET_FAILPOINT',
  'INLET_WEBHOOK_HTTP',
  'INLET_WEBHOOK_TIME_SCALE',
];

/** Generates only the names of the settings. The rest of the schema is edited by hand. */
export function chartSchemaPage(): string {
  const excluded = new Set<string>([...secretSettings, ...notAmongChartSettings]);
  const settings = Object.keys(configSchema.shape);
  const names = settings.filter((name) => !excluded.has(name));
  // The certificate of the API is a Secret of its own (api.tlsSecretName).
  const files = [...secretSettings, ...names.filter((name) => name.endsWith('_FILE'))];
  const schema = z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path, 'utf8')));
  const definitions = z.record(z.string(), z.unknown()).parse(schema['definitions']);
  const changed = {
    ...schema,
    definitions: { ...definitions, settingName: { enum: names }, secretFileName: { enum: files } },
  };
  return `${JSON.stringify(changed, null, 2)}\n`;
}

/** Helm reads only files in the chart's folder, so the chart contains a copy of the alert rules. */
export function chartAlertsPage(): string {
  return readFileSync('deploy/observability/alerts.yml', 'utf8');
}
