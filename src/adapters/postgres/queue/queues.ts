import { PgBoss, type Queue } from 'pg-boss';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { statementTimeouts, usualStatementMs } from '../db/connect.ts';
import { fileQueue, laneQueue, lostFileQueue } from './tokens.ts';

const day = 24 * 3600;

/**
 * The queues. pg-boss assigns tokens to workers, and Inlet's tables define the order of jobs. See "Lanes" in
 * docs/architecture.md.
 */
const queues: readonly Queue[] = [
  {
    name: lostFileQueue,
    policy: 'standard',
    notify: true,
    heartbeatSeconds: 10,
    expireInSeconds: 6 * 3600,
    retryLimit: 1_000_000,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 30,
    retentionSeconds: 365 * day,
    deleteAfterSeconds: day,
  },
  {
    name: fileQueue,
    policy: 'exclusive',
    notify: true,
    heartbeatSeconds: 10,
    expireInSeconds: 6 * 3600,
    retryLimit: 6,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    retentionSeconds: 365 * day,
    deleteAfterSeconds: 3600,
    deadLetter: lostFileQueue,
  },
  {
    name: laneQueue,
    policy: 'exclusive',
    notify: true,
    heartbeatSeconds: 10,
    expireInSeconds: day - 1,
    retryLimit: 1_000_000,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 30,
    retentionSeconds: 365 * day,
    deleteAfterSeconds: 3600,
  },
];

export type BossRole = 'migrate' | 'send' | 'work';

/**
 * The maximum number of connections. A worker's slots fetch tokens one at a time, so more connections would be idle.
 */
const maxPoolSize = 4;

export async function startBoss(options: {
  url: Secret;
  role: BossRole;
  name: string;
  maxConnections?: number;
  log: Log;
}): Promise<PgBoss> {
  const isWorker = options.role === 'work';
  const boss = new PgBoss({
    connectionString: options.url.reveal(),
    application_name: `${options.name}-queue`,
    max: isWorker ? Math.min(maxPoolSize, options.maxConnections ?? maxPoolSize) : 1,
    migrate: options.role === 'migrate',
    createSchema: options.role === 'migrate',
    schedule: false,
    // These settings detect a dead worker. With the default of 60 s, every takeover would take a minute.
    supervise: isWorker,
    superviseIntervalSeconds: 2,
    monitorIntervalSeconds: 2,
    useListenNotify: isWorker,
    // pg-boss passes these settings to pg.
    ...statementTimeouts(usualStatementMs),
  });
  boss.on('error', (error) => options.log.warn({ error: error.message }, 'queue error'));
  boss.on('warning', (warning) => options.log.warn({ warning: warning.message }, 'queue warning'));
  await boss.start();
  return boss;
}

/** Creates the missing queues. For an existing queue, updates the settings that can change. */
export async function createQueues(boss: PgBoss): Promise<void> {
  for (const { name, ...options } of queues) {
    const { policy: _policy, ...changeable } = options;
    if (await boss.getQueue(name)) await boss.updateQueue(name, changeable);
    else await boss.createQueue(name, options);
  }
}
