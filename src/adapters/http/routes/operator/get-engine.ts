import { z } from 'zod';
import type { ReplicaState } from '../../../../ports/engine-status.ts';
import { userTokenWithSession } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import { timestamp } from '../../schemas.ts';
import { type WithOperator, operatorOf } from './operator-deps.ts';

const count = (description: string) => z.int().min(0).meta({ description });

const replicaSchema = z
  .object({
    shard: z.int().meta({ description: 'Number of the shard, starting at 1.' }),
    replica: z.int().meta({ description: 'Number of the replica within its shard, starting at 1.' }),
    url: z.string().meta({ description: 'Configured URL, without the user and password.' }),
    reachable: z.boolean().meta({ description: 'Whether the server answered all queries within two seconds.' }),
    problem: z.string().nullable().meta({ description: 'Why the server is not reachable.' }),
    state: z
      .object({
        version: z.string().meta({ description: 'Version of ClickHouse.' }),
        uptime_seconds: z.int(),
        parts: z
          .object({ active: count('Active parts.'), rows: count('Rows in them.'), bytes: count('Bytes on disk.') })
          .meta({ description: "The tables of Inlet's database, including staging tables." }),
        mutations: z
          .object({
            unfinished: count('Mutations that are not finished.'),
            oldest_seconds: z.int().nullable().meta({ description: 'Age of the oldest one. Null if there is none.' }),
            latest_failure: z
              .string()
              .nullable()
              .meta({ description: 'The reason for the most recent failure. Null if none has failed.' }),
          })
          .meta({ description: "Mutations of Inlet's database." }),
        disks: z
          .array(
            z.object({ name: z.string(), free_bytes: count('Free space.'), total_bytes: count('Size of the disk.') }),
          )
          .max(20),
        replication: z
          .object({
            read_only: z.boolean().meta({ description: 'Whether any table is read-only.' }),
            keeper_session: z
              .enum(['active', 'expired'])
              .meta({ description: 'State of the sessions with ClickHouse Keeper or ZooKeeper.' }),
            delay_seconds: count('How far the replica is behind the other replicas.'),
            queued_tasks: count('Entries in the replication queue.'),
          })
          .nullable()
          .meta({ description: 'Null if the shard has only one server.' }),
      })
      .nullable()
      .meta({ description: 'Null if the server is not reachable.' }),
  })
  .meta({ id: 'OperatorReplica' });

const engineSchema = z
  .object({
    checked_at: timestamp.meta({ description: 'When the servers answered. ISO 8601, UTC.' }),
    replicas: z
      .array(replicaSchema)
      .max(1000)
      .meta({ description: 'One entry per server in `INLET_CLICKHOUSE_URLS`, in the same order.' }),
  })
  .meta({ id: 'OperatorEngine' });

export const getOperatorEngine = defineRoute({
  id: 'getOperatorEngine',
  tag: 'operator',
  method: 'GET',
  path: '/v1/operator/engine',
  scope: 'operator',
  summary: 'Get the state of ClickHouse',
  description:
    'Queries the state of every ClickHouse server. A server that does not respond is shown as unreachable and delays the response by at most two seconds.',
  response: {
    status: 200,
    description: 'The state of every server.',
    schema: engineSchema,
    example: {
      checked_at: '2026-11-15T01:12:18.654Z',
      replicas: [
        {
          shard: 1,
          replica: 1,
          url: 'https://clickhouse-1a.example.com:8443',
          reachable: true,
          problem: null,
          state: {
            version: '26.8.3.1',
            uptime_seconds: 93_712,
            parts: { active: 312, rows: 41_873_211, bytes: 719_401_322 },
            mutations: { unfinished: 1, oldest_seconds: 12, latest_failure: null },
            disks: [{ name: 'default', free_bytes: 812_000_000_000, total_bytes: 1_000_000_000_000 }],
            replication: { read_only: false, keeper_session: 'active', delay_seconds: 0, queued_tasks: 2 },
          },
        },
        {
          shard: 1,
          replica: 2,
          url: 'https://clickhouse-1b.example.com:8443',
          reachable: false,
          problem: 'connect ECONNREFUSED 10.1.2.3:8443',
          state: null,
        },
      ],
    },
  },
  problems: userTokenWithSession,
  handler: (deps: WithOperator) => async () => {
    const replicas = await operatorOf(deps).engineStatus.read();
    return { checked_at: new Date().toISOString(), replicas: replicas.map(replicaRecord) };
  },
});

function replicaRecord({ state, ...replica }: ReplicaState): z.input<typeof replicaSchema> {
  return {
    shard: replica.shard,
    replica: replica.replica,
    url: replica.url,
    reachable: state !== null,
    problem: replica.problem,
    state: state && {
      version: state.version,
      uptime_seconds: state.uptimeSeconds,
      parts: state.parts,
      mutations: {
        unfinished: state.mutations.unfinished,
        oldest_seconds: state.mutations.oldestSeconds,
        latest_failure: state.mutations.failure,
      },
      disks: state.disks.map(({ name, freeBytes, totalBytes }) => ({
        name,
        free_bytes: freeBytes,
        total_bytes: totalBytes,
      })),
      replication: state.replication && {
        read_only: state.replication.isReadOnly,
        keeper_session: state.replication.isSessionExpired ? ('expired' as const) : ('active' as const),
        delay_seconds: state.replication.delaySeconds,
        queued_tasks: state.replication.queuedTasks,
      },
    },
  };
}
