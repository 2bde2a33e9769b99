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
    'The metrics that `/metrics` serves. To enable it, see [observability.md](observability.md). A histogram `x_seconds` has the',
    'series `x_seconds_bucket`, `x_seconds_sum` and `x_seconds_count`.',
    '',
    '## Per process',
    '',
    'Each process counts from its own start: aggregate with `sum`.',
    '',
    ...tableOf(createMeters().registry),
    '',
    'In addition, `process_…` and `nodejs_…` report CPU time, memory and the event loop of the process.',
    '',
    '## Service-wide',
    '',
    'Read from PostgreSQL on each scrape, and the same in every process: aggregate with `max`.',
    '',
    ...tableOf(createStateGauges().registry),
    '',
  ].join('\n');
}

function tableOf(registry: Registry): string[] {
  const rows = registry.getMetricsAsArray().map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`);
  return ['| Metric | Type | Meaning |', '|---|---|---|', ...rows];
}
