import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ReplicaState, ServerState } from '../../ports/engine-status.ts';
import { type Alert, type Snapshot, alertsWithoutRule, evaluateAlerts, thresholds } from './evaluate-alerts.ts';

const now = new Date('2026-11-15T12:00:00.000Z');
const hoursAgo = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);

const healthyServer: ServerState = {
  version: '26.8.3.1',
  uptimeSeconds: 1,
  parts: { active: 1, rows: 1, bytes: 1 },
  mutations: { unfinished: 0, oldestSeconds: null, failure: null },
  disks: [{ name: 'default', freeBytes: 500, totalBytes: 1_000 }],
  replication: { isReadOnly: false, isSessionExpired: false, delaySeconds: 0, queuedTasks: 0 },
};

function replicaWith(state: Partial<ServerState> | null, replica = 1): ReplicaState {
  return {
    shard: 1,
    replica,
    url: 'http://clickhouse.example.com:8123',
    state: state && { ...healthyServer, ...state },
    problem: state ? null : 'connect ECONNREFUSED',
  };
}

const replication = { isReadOnly: false, isSessionExpired: false, delaySeconds: 0, queuedTasks: 0 };

const healthy: Snapshot = {
  now,
  waits: {
    workers: 1,
    lanesWithoutToken: 0,
    silentSeconds: 0,
    oldestPendingSeconds: 0,
    oldestIndexChangeSeconds: 0,
    oldestReportRequestSeconds: 0,
    oldestWebhookEventSeconds: 0,
    oldestErasureSeconds: 0,
    dropFetchSeconds: 0,
    dropCycleSeconds: 0,
  },
  matchesTopology: true,
  replicas: [replicaWith({}), replicaWith({}, 2)],
  newestBackup: { takenAt: hoursAgo(24) },
};

const waiting = (waits: Partial<Snapshot['waits']>): Partial<Snapshot> => ({ waits: { ...healthy.waits, ...waits } });

/** One row per condition: the change to a healthy installation, and the expected alert. */
const conditions: readonly (readonly [condition: string, change: Partial<Snapshot>, alert: Partial<Alert>])[] = [
  ['no worker is connected', waiting({ workers: 0 }), { name: 'InletNoWorkers', value: 0 }],
  ['a lane has no token', waiting({ lanesWithoutToken: 2 }), { name: 'InletLaneWithoutToken', value: 2 }],
  [
    'a running job makes no progress',
    waiting({ silentSeconds: 3_601 }),
    {
      name: 'InletLaneStandsStill',
      value: 3_601,
      message: 'A running job has not finished a file or step for 60 min.',
    },
  ],
  [
    'a job has been pending for a long time',
    waiting({ oldestPendingSeconds: 3 * 3_600 }),
    { name: 'InletJobsWaitLong', since: hoursAgo(3), message: 'A job has been pending for 3 h.' },
  ],
  ['the device index is behind', waiting({ oldestIndexChangeSeconds: 901 }), { name: 'InletIndexBehind' }],
  ['a report waits', waiting({ oldestReportRequestSeconds: 301 }), { name: 'InletReportsWait' }],
  ['an event waits', waiting({ oldestWebhookEventSeconds: 301 }), { name: 'InletEventsWait' }],
  ['an erasure has been open for a day', waiting({ oldestErasureSeconds: 86_401 }), { name: 'InletErasureOverdue' }],
  [
    'no DROP list has been fetched for 31 days',
    waiting({ dropFetchSeconds: 31 * 86_400 }),
    {
      name: 'InletDropDue',
      severity: 'warning',
      message: 'The DROP deletion list was last fetched 31 days ago. The duty ends after 45 days.',
    },
  ],
  [
    'a DROP cycle has been open for 41 days',
    waiting({ dropFetchSeconds: 60, dropCycleSeconds: 41 * 86_400 }),
    { name: 'InletDropUrgent', severity: 'critical', since: hoursAgo(41 * 24) },
  ],
  ['the topology differs', { matchesTopology: false }, { name: 'InletTopologyMismatch', value: null }],
  [
    'one of two replicas is down',
    { replicas: [replicaWith({}), replicaWith(null, 2)] },
    {
      name: 'InletReplicaUnreachable',
      severity: 'warning',
      message: 'The state of a ClickHouse server cannot be read: shard 1, replica 2 (connect ECONNREFUSED).',
    },
  ],
  [
    'every server of a shard is down',
    { replicas: [replicaWith(null)] },
    { name: 'InletReplicaUnreachable', severity: 'critical' },
  ],
  [
    'a replica is read-only',
    { replicas: [replicaWith({ replication: { ...replication, isReadOnly: true } })] },
    { name: 'InletReplicaReadOnly' },
  ],
  [
    'a replica has lost its session with Keeper',
    { replicas: [replicaWith({ replication: { ...replication, isSessionExpired: true } })] },
    { name: 'InletReplicaReadOnly' },
  ],
  [
    'a replica is behind',
    { replicas: [replicaWith({ replication: { ...replication, delaySeconds: 301 } })] },
    { name: 'InletReplicaBehind', value: 301 },
  ],
  [
    'a disk is almost full',
    { replicas: [replicaWith({ disks: [{ name: 'data', freeBytes: 99, totalBytes: 1_000 }] })] },
    { name: 'InletDiskLow', value: 0.099, message: 'Disk "data" has 9.9% free: shard 1, replica 1.' },
  ],
  [
    'the newest backup is old',
    { newestBackup: { takenAt: hoursAgo(72) } },
    { name: 'InletBackupOverdue', since: hoursAgo(24), value: 72 * 3_600 },
  ],
  ['there is no backup', { newestBackup: null }, { name: 'InletBackupOverdue', since: null, value: null }],
];

describe('evaluateAlerts', () => {
  it('reports nothing for a healthy installation', () => {
    expect(evaluateAlerts(healthy)).toEqual([]);
  });

  it.each(conditions)('reports one alert if %s', (_condition, change, alert) => {
    expect(evaluateAlerts({ ...healthy, ...change })).toEqual([expect.objectContaining(alert)]);
  });

  it('reports nothing at a threshold, or for an unknown topology and a server without replication', () => {
    const atThresholds = waiting({
      silentSeconds: thresholds.InletLaneStandsStill,
      oldestPendingSeconds: thresholds.InletJobsWaitLong,
      oldestIndexChangeSeconds: thresholds.InletIndexBehind,
      oldestReportRequestSeconds: thresholds.InletReportsWait,
      oldestWebhookEventSeconds: thresholds.InletEventsWait,
      oldestErasureSeconds: thresholds.InletErasureOverdue,
      dropFetchSeconds: thresholds.InletDropDue,
      dropCycleSeconds: thresholds.InletDropDue,
    });
    const unknown = { matchesTopology: null, replicas: [replicaWith({ replication: null })] };
    expect(evaluateAlerts({ ...healthy, ...atThresholds, ...unknown })).toEqual([]);
  });

  it('lists critical alerts first', () => {
    const { waits } = { ...healthy, ...waiting({ workers: 0, oldestPendingSeconds: 8_000 }) };
    const alerts = evaluateAlerts({ ...healthy, waits, matchesTopology: false });
    expect(alerts.map(({ severity }) => severity)).toEqual(['critical', 'critical', 'warning']);
  });

  it('uses the names, severities, and thresholds of the Prometheus rules', () => {
    const rules = rulesOf(readFileSync('deploy/observability/alerts.yml', 'utf8'));
    const reported = conditions.flatMap(([, change]) => evaluateAlerts({ ...healthy, ...change }));
    const withoutRule = new Set<string>(alertsWithoutRule);
    for (const { name, severity } of reported.filter((alert) => !withoutRule.has(alert.name))) {
      expect(rules.get(name)?.severity, name).toBe(severity);
    }
    for (const [name, threshold] of Object.entries(thresholds)) {
      expect(rules.get(name)?.expr, name).toContain(` > ${threshold}`);
    }
    expect(new Set(reported.map(({ name }) => name))).toEqual(new Set([...stateRules(rules), ...withoutRule]));
  });

  it('links to a section of the incident page that names the alert', () => {
    const page = readFileSync('docs/operators/incidents.md', 'utf8');
    const sections = new Map(
      page.split(/^## /m).map((text) => [text.split('\n')[0]?.toLowerCase().replaceAll(' ', '-'), text]),
    );
    for (const { name, runbook } of conditions.flatMap(([, change]) => evaluateAlerts({ ...healthy, ...change }))) {
      const [path, anchor] = runbook.split('#');
      expect(path).toBe('docs/operators/incidents.md');
      expect(sections.get(anchor), `${name} in ${anchor}`).toContain(`\`${name}\``);
    }
  });
});

type Rule = { readonly expr: string; readonly severity: string };

function rulesOf(text: string): Map<string, Rule> {
  const { groups } = z
    .object({
      groups: z.array(
        z.object({
          rules: z.array(z.object({ alert: z.string(), expr: z.string(), labels: z.object({ severity: z.string() }) })),
        }),
      ),
    })
    .parse(parse(text));
  return new Map(
    groups.flatMap(({ rules }) => rules.map(({ alert, expr, labels: { severity } }) => [alert, { expr, severity }])),
  );
}

/** Rules about state. The other rules use rates, or are about the metrics themselves. */
function stateRules(rules: ReadonlyMap<string, Rule>): string[] {
  const aboutMetrics = new Set(['InletScrapeFails', 'InletProcessDown', 'InletBlind']);
  return [...rules].flatMap(([name, { expr }]) =>
    /\b(?:rate|increase)\(/.test(expr) || aboutMetrics.has(name) ? [] : [name],
  );
}
