import type { Registry } from '@prometheus-io/client';
import { createMeters } from '../../src/entry/observability/metrics.ts';
import { createStateGauges } from '../../src/entry/observability/state-gauges.ts';
import { generatedNotice } from './generated-notice.ts';

/** Generates docs/metrics.md from the metric definitions. */
export function metricsPage(): string {
  return [
    '# Metrics',
    '',
    generatedNotice('src/entry/observability/metrics.ts and state-gauges.ts'),
    '',
    'These are the metrics that `/metrics` serves. To enable this endpoint, see [observability.md](observability.md).',
    'A histogram `x_seconds` has the series `x_seconds_bucket`, `x_seconds_sum`, and `x_seconds_count`.',
    '',
    '## Per process',
    '',
    'Each process counts from its own start. Aggregate the values with `sum`.',
    '',
    ...tableOf(createMeters().registry),
    '',
    'In addition, `process_…` and `nodejs_…` report CPU time, memory, and the event loop of the process.',
    '',
    '## Service-wide',
    '',
    'These values are read from PostgreSQL on each scrape and are the same in every process. Aggregate them with `max`.',
    '',
    ...tableOf(createStateGauges().registry),
    '',
  ].join('\n');
}

function tableOf(registry: Registry): string[] {
  const rows = registry.getMetricsAsArray().map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`);
  return ['| Metric | Type | Meaning |', '|---|---|---|', ...rows];
}
