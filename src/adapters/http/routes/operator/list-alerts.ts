import { z } from 'zod';
import { readAlerts } from '../../../../usecases/admin/read-alerts.ts';
import { userTokenWithSession } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import { timestamp } from '../../schemas.ts';
import { type WithOperator, operatorOf } from './operator-deps.ts';

const alertSchema = z
  .object({
    name: z.string().meta({ description: 'Name of the alert, as in `deploy/observability/alerts.yml`.' }),
    severity: z.enum(['critical', 'warning']),
    since: timestamp.nullable().meta({ description: 'When the condition began. Null if that is unknown.' }),
    value: z
      .number()
      .nullable()
      .meta({ description: 'The measured value, for example an age in seconds. Null if the condition has none.' }),
    message: z.string().meta({ description: 'What is wrong, in one sentence.' }),
    runbook: z
      .string()
      .meta({ description: 'The page and section that describe what to do, relative to the repository.' }),
  })
  .meta({ id: 'OperatorAlert' });

export const listOperatorAlerts = defineRoute({
  id: 'listOperatorAlerts',
  tag: 'operator',
  method: 'GET',
  path: '/v1/operator/alerts',
  scope: 'operator',
  summary: 'List alerts',
  description:
    'Evaluates the alerts that depend only on the current state. It reports a condition as soon as it holds, whereas Prometheus waits until it has held for some time. Alerts about rates, for example failing requests, need Prometheus.',
  response: {
    status: 200,
    description: 'The alerts. Critical alerts come first.',
    schema: z
      .object({
        evaluated_at: timestamp,
        alerts: z.array(alertSchema).max(5000),
      })
      .meta({ id: 'OperatorAlerts' }),
    example: {
      evaluated_at: '2026-11-15T03:30:00.000Z',
      alerts: [
        {
          name: 'InletJobsWaitLong',
          severity: 'warning',
          since: '2026-11-15T01:12:18.000Z',
          value: 8262,
          message: 'A job has been pending for 2 h.',
          runbook: 'docs/operators/incidents.md#one-partner-waits',
        },
      ],
    },
  },
  problems: userTokenWithSession,
  handler: (deps: WithOperator) => async () => {
    const { at, alerts } = await readAlerts(operatorOf(deps));
    return {
      evaluated_at: at.toISOString(),
      alerts: alerts.map(({ since, ...alert }) => ({ ...alert, since: since?.toISOString() ?? null })),
    };
  },
});
