import type { BackupHistory } from '../../ports/backup.ts';
import type { EngineStatus } from '../../ports/engine-status.ts';
import type { OperatorReads } from '../../ports/operations.ts';
import { type Alert, evaluateAlerts } from './evaluate-alerts.ts';
import { pause } from './pause.ts';
import { type RequireTopology, matchesTopology } from './topology.ts';

export type AlertDeps = {
  readonly reads: OperatorReads;
  readonly engineStatus: EngineStatus;
  readonly backups: BackupHistory;
  readonly requireTopology: RequireTopology;
};

const topologyTimeoutMs = 1_700;

export async function readAlerts(deps: AlertDeps): Promise<{ readonly at: Date; readonly alerts: readonly Alert[] }> {
  const [waits, replicas, newestBackup, topology] = await Promise.all([
    deps.reads.readWaits(),
    deps.engineStatus.read(),
    deps.backups.findNewestComplete(),
    checkTopologyInTime(deps.requireTopology),
  ]);
  const now = new Date();
  return { at: now, alerts: evaluateAlerts({ now, waits, replicas, newestBackup, matchesTopology: topology }) };
}

/** A check that takes longer continues. Its result is kept, so the next call usually has it. */
async function checkTopologyInTime(requireTopology: RequireTopology): Promise<boolean | null> {
  const checked = new AbortController();
  const late = pause(topologyTimeoutMs, checked.signal).then(() => null);
  return Promise.race([matchesTopology(requireTopology), late]).finally(() => checked.abort());
}
