import type { BackupRecord } from '../../ports/backup.ts';
import type { ReplicaState, ServerState } from '../../ports/engine-status.ts';
import type { Waits } from '../../ports/operations.ts';

/** The state of an installation at one time. */
export type Snapshot = {
  readonly now: Date;
  readonly waits: Waits;
  /** Null if the topology is unknown because a server is unavailable. */
  readonly matchesTopology: boolean | null;
  readonly replicas: readonly ReplicaState[];
  readonly newestBackup: Pick<BackupRecord, 'takenAt'> | null;
};

export type Alert = {
  readonly name: string;
  readonly severity: 'critical' | 'warning';
  /** When the condition began. Null if that is unknown. */
  readonly since: Date | null;
  /** The number that is above or below the threshold. Null if the condition has no number. */
  readonly value: number | null;
  readonly message: string;
  /** The section of the incident page that describes what to do. */
  readonly runbook: string;
};

/** The same thresholds as in deploy/observability/alerts.yml. A test compares them. */
export const thresholds = {
  InletLaneStandsStill: 3600,
  InletJobsWaitLong: 7200,
  InletIndexBehind: 900,
  InletReportsWait: 300,
  InletEventsWait: 300,
  InletErasureOverdue: 86_400,
  InletReplicaBehind: 300,
  // Day 30 and day 40 of 45.
  InletDropDue: 2_592_000,
  InletDropUrgent: 3_456_000,
} as const;

/** Conditions without a metric, which therefore have no Prometheus rule. */
export const alertsWithoutRule = ['InletReplicaUnreachable', 'InletDiskLow', 'InletBackupOverdue'] as const;

/** A merge needs as much free space as the data that it reads. `inlet doctor` uses the same share. */
const leastFreeShare = 0.1;

/** Leaves a day for the second attempt of a daily backup. */
const maxBackupAgeSeconds = 48 * 3600;

const sections = {
  lanes: 'nothing-is-loaded',
  onePartner: 'one-partner-waits',
  stores: 'the-stores',
  drop: 'deletion-lists-of-drop',
} as const;

function runbook(section: keyof typeof sections): string {
  return `docs/operators/incidents.md#${sections[section]}`;
}

/**
 * Returns the alerts of deploy/observability/alerts.yml that can be evaluated from the state alone. Alerts about rates
 * need Prometheus. Critical alerts come first.
 */
export function evaluateAlerts(snapshot: Snapshot): Alert[] {
  const alerts = [
    ...alertsOfWork(snapshot),
    ...alertsOfDrop(snapshot),
    ...alertsOfTopology(snapshot),
    ...alertsOfServers(snapshot),
  ];
  const backup = alertOfBackups(snapshot);
  if (backup) alerts.push(backup);
  return alerts.toSorted((one, other) => Number(other.severity === 'critical') - Number(one.severity === 'critical'));
}

function alertsOfWork({ now, waits }: Snapshot): Alert[] {
  const alerts: Alert[] = [];
  if (waits.workers === 0) {
    alerts.push({
      name: 'InletNoWorkers',
      severity: 'critical',
      since: null,
      value: 0,
      message: 'No worker is connected. Accepted jobs wait and are not lost.',
      runbook: runbook('lanes'),
    });
  }
  if (waits.lanesWithoutToken > 0) {
    alerts.push({
      name: 'InletLaneWithoutToken',
      severity: 'critical',
      since: null,
      value: waits.lanesWithoutToken,
      message: `${waits.lanesWithoutToken} lanes have open jobs but no token.`,
      runbook: runbook('lanes'),
    });
  }
  const ages = [
    ['InletLaneStandsStill', waits.silentSeconds, 'A running job has not finished a file or step for', 'onePartner'],
    ['InletJobsWaitLong', waits.oldestPendingSeconds, 'A job has been pending for', 'onePartner'],
    ['InletIndexBehind', waits.oldestIndexChangeSeconds, 'The device index has been behind for', 'stores'],
    ['InletReportsWait', waits.oldestReportRequestSeconds, 'A report has been waiting for', 'stores'],
    ['InletEventsWait', waits.oldestWebhookEventSeconds, 'An event has not been sent to a webhook for', 'stores'],
    ['InletErasureOverdue', waits.oldestErasureSeconds, 'A request to erase devices has been open for', 'stores'],
  ] as const;
  for (const [name, seconds, text, section] of ages) {
    if (seconds <= thresholds[name]) continue;
    alerts.push({
      name,
      severity: 'warning',
      since: before(now, seconds),
      value: seconds,
      message: `${text} ${describeSeconds(seconds)}.`,
      runbook: runbook(section),
    });
  }
  return alerts;
}

function alertsOfDrop({ now, waits }: Snapshot): Alert[] {
  const isFetch = waits.dropFetchSeconds >= waits.dropCycleSeconds;
  const seconds = isFetch ? waits.dropFetchSeconds : waits.dropCycleSeconds;
  if (seconds <= thresholds.InletDropDue) return [];
  const isUrgent = seconds > thresholds.InletDropUrgent;
  const text = isFetch
    ? 'The DROP deletion list was last fetched'
    : 'The devices of the last DROP list have waited for';
  return [
    {
      name: isUrgent ? 'InletDropUrgent' : 'InletDropDue',
      severity: isUrgent ? 'critical' : 'warning',
      since: before(now, seconds),
      value: seconds,
      message: `${text} ${describeSeconds(seconds)}${isFetch ? ' ago' : ''}. The duty ends after 45 days.`,
      runbook: runbook('drop'),
    },
  ];
}

function alertsOfTopology({ matchesTopology }: Snapshot): Alert[] {
  if (matchesTopology !== false) return [];
  return [
    {
      name: 'InletTopologyMismatch',
      severity: 'critical',
      since: null,
      value: null,
      message: 'The ClickHouse shards differ from the recorded topology. Loads and reports are stopped.',
      runbook: runbook('lanes'),
    },
  ];
}

function alertsOfServers({ now, replicas }: Snapshot): Alert[] {
  return replicas.flatMap((replica) => {
    const name = `shard ${replica.shard}, replica ${replica.replica}`;
    if (!replica.state) {
      const message = `The state of a ClickHouse server cannot be read: ${name} (${replica.problem}).`;
      const isOnly = !replicas.some((one) => one.shard === replica.shard && one.state !== null);
      return [serverAlert('InletReplicaUnreachable', isOnly ? 'critical' : 'warning', message)];
    }
    return [...alertsOfReplication(replica.state, name, now), ...alertsOfDisks(replica.state, name)];
  });
}

function alertsOfReplication({ replication }: ServerState, name: string, now: Date): Alert[] {
  if (!replication) return [];
  const alerts: Alert[] = [];
  if (replication.isReadOnly || replication.isSessionExpired) {
    alerts.push(
      serverAlert('InletReplicaReadOnly', 'critical', `Tables are read-only, without a session with Keeper: ${name}.`),
    );
  }
  const { delaySeconds } = replication;
  if (delaySeconds > thresholds.InletReplicaBehind) {
    const message = `A replica is ${describeSeconds(delaySeconds)} behind: ${name}.`;
    alerts.push({
      ...serverAlert('InletReplicaBehind', 'warning', message),
      since: before(now, delaySeconds),
      value: delaySeconds,
    });
  }
  return alerts;
}

function alertsOfDisks({ disks }: ServerState, name: string): Alert[] {
  return disks.flatMap((disk) => {
    const share = disk.totalBytes === 0 ? 1 : disk.freeBytes / disk.totalBytes;
    if (share >= leastFreeShare) return [];
    const message = `Disk "${disk.name}" has ${(share * 100).toFixed(1)}% free: ${name}.`;
    return [{ ...serverAlert('InletDiskLow', 'warning', message), value: Math.round(share * 1000) / 1000 }];
  });
}

function serverAlert(name: string, severity: Alert['severity'], message: string): Alert {
  return { name, severity, since: null, value: null, message, runbook: runbook('stores') };
}

function alertOfBackups({ now, newestBackup }: Snapshot): Alert | null {
  const takenAt = newestBackup?.takenAt ?? null;
  const seconds = takenAt && Math.round((now.getTime() - takenAt.getTime()) / 1000);
  if (seconds !== null && seconds <= maxBackupAgeSeconds) return null;
  return {
    name: 'InletBackupOverdue',
    severity: 'warning',
    since: takenAt && before(takenAt, -maxBackupAgeSeconds),
    value: seconds,
    message:
      seconds === null
        ? 'No complete backup is recorded.'
        : `The newest complete backup is ${describeSeconds(seconds)} old.`,
    runbook: runbook('stores'),
  };
}

function before(time: Date, seconds: number): Date {
  return new Date(time.getTime() - seconds * 1000);
}

function describeSeconds(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}
