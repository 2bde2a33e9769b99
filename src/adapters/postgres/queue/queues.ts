import { PgBoss, type Queue } from 'pg-boss';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { patience, usualStatementMs } from '../db/connect.ts';
import { fileQueue, laneQueue, lostFileQueue } from './tokens.ts';

const day = 24 * 3600;

/** pg-boss hands out the right to work; the order is in our own tables. Figures: docs/architecture.md, "Lanes". */
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

/** A worker's slots ask for tokens one after the other: more than these are not used. */
const mostConnections = 4;

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
    max: isWorker ? Math.min(mostConnections, options.maxConnections ?? mostConnections) : 1,
    migrate: options.role === 'migrate',
    createSchema: options.role === 'migrate',
    schedule: false,
    // A dead worker is noticed by these; the default of 60 s would make every takeover take a minute.
    supervise: isWorker,
    superviseIntervalSeconds: 2,
    monitorIntervalSeconds: 2,
    useListenNotify: isWorker,
    // Handed on to pg.
    ...patience(usualStatementMs),
  });
  boss.on('error', (error) => options.log.warn({ error: error.message }, 'queue error'));
  boss.on('warning', (warning) => options.log.warn({ warning: warning.message }, 'queue warning'));
  await boss.start();
  return boss;
}

/** Makes the queues as described above; an existing queue gets the settings that may change. */
export async function createQueues(boss: PgBoss): Promise<void> {
  for (const { name, ...options } of queues) {
    const { policy: _policy, ...changeable } = options;
    if (await boss.getQueue(name)) await boss.updateQueue(name, changeable);
    else await boss.createQueue(name, options);
  }
}
