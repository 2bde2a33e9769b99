import type { Registry } from '@prometheus-io/client';
import { createMeters } from '../../src/entry/observability/metrics.ts';
import { createStateGauges } from '../../src/entry/observability/state-gauges.ts';
import { generatedNotice } from './generated-notice.ts';

/** docs/metrics.md, from the metrics themselves. */
export function metricsPage(): string {
  return [
    '# Metrics',
    '',
    generatedNotice('src/entry/observability/metrics.ts and state-gauges.ts'),
    '',
    'What `/metrics` shows; how to turn it on is in [observability.md](observability.md). A histogram `x_seconds` has the',
    'series `x_seconds_bucket`, `x_seconds_sum` and `x_seconds_count`.',
    '',
    '## What a process has done',
    '',
    'Each process counts for itself, from its start: add them up with `sum`.',
    '',
    ...tableOf(createMeters().registry),
    '',
    'Besides, `process_…` and `nodejs_…`: processor time, memory and event loop of the process.',
    '',
    '## The state of the service',
    '',
    'Read from PostgreSQL for each scrape, the same in every process: take one of them with `max`.',
    '',
    ...tableOf(createStateGauges().registry),
    '',
  ].join('\n');
}

function tableOf(registry: Registry): string[] {
  const rows = registry.getMetricsAsArray().map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`);
  return ['| Metric | Type | Meaning |', '|---|---|---|', ...rows];
}
