import { Gauge, Registry } from '@prometheus-io/client';
import type { WhatWaits } from '../../adapters/postgres/queue/queue-stats.ts';

/** One number each: its name, what it says, and where it comes from. */
const single: readonly (readonly [name: string, help: string, from: keyof WhatWaits])[] = [
  ['inlet_workers', 'Workers that are connected.', 'workers'],
  ['inlet_lanes_open', 'Lanes (partners) with open jobs.', 'lanesOpen'],
  ['inlet_lanes_active', 'Lanes that a worker moves now.', 'lanesActive'],
  [
    'inlet_lanes_without_token',
    'Lanes with open jobs that nobody will move before the next sweep.',
    'lanesWithoutToken',
  ],
  [
    'inlet_lane_silence_seconds',
    'The longest time for which the running job of a lane has had no file or step ended.',
    'silentSeconds',
  ],
  ['inlet_files_in_flight', 'Files of batches that a worker loads now.', 'filesInFlight'],
  ['inlet_tokens_ready', 'Lanes and batches that a worker could take now.', 'readyTokens'],
  [
    'inlet_tokens_waiting',
    'Lanes and batches that wait for a time: a server was away, or an attempt failed.',
    'waitingTokens',
  ],
];

/** What is true of the whole service, read from PostgreSQL for each scrape; every process shows the same. */
export function createStateGauges() {
  const registry = new Registry();
  const registers = [registry];
  const perState = (name: string, help: string): Gauge<'state'> =>
    new Gauge({ name, help, labelNames: ['state'], registers });
  const openJobs = perState(
    'inlet_open_jobs',
    'Jobs with something to come, by `state` (pending, running, cleaning: cancelled, and not yet cleaned up).',
  );
  const oldest = perState(
    'inlet_oldest_open_job_seconds',
    'Age of the oldest of them, by `state`; 0 when there is none.',
  );
  const gauges = single.map(([name, help, from]) => ({ gauge: new Gauge({ name, help, registers }), from }));
  return {
    registry,
    set: (now: WhatWaits): void => {
      openJobs.set({ state: 'pending' }, now.pendingJobs);
      openJobs.set({ state: 'running' }, now.runningJobs);
      openJobs.set({ state: 'cleaning' }, now.openJobs - now.pendingJobs - now.runningJobs);
      oldest.set({ state: 'pending' }, now.oldestPendingSeconds);
      oldest.set({ state: 'running' }, now.oldestRunningSeconds);
      oldest.set({ state: 'cleaning' }, now.oldestCleaningSeconds);
      for (const { gauge, from } of gauges) gauge.set(now[from]);
    },
  };
}
