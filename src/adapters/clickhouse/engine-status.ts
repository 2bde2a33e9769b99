import type { EngineStatus, ReplicaState, ReplicationState, ServerState } from '../../ports/engine-status.ts';
import { type Engine, type Server, selectRows } from './connect.ts';

/** Leaves time for the rest of a response that must be sent within two seconds. */
const timeoutMs = 1_700;

/** `urls` contains no credentials. */
export function clickhouseEngineStatus(engine: Engine, urls: readonly (readonly string[])[]): EngineStatus {
  return {
    read: () =>
      Promise.all(
        engine.shards.flatMap((shard, index) =>
          shard.map((server, replica) =>
            readReplica(server, {
              shard: index + 1,
              replica: replica + 1,
              url: urls[index]?.[replica] ?? '',
              isReplicated: shard.length > 1,
            }),
          ),
        ),
      ),
  };
}

type Place = Pick<ReplicaState, 'shard' | 'replica' | 'url'> & { readonly isReplicated: boolean };

/** Does not use `watched`, so that the operator's reads do not affect which replica the loads use. */
async function readReplica(server: Server, { isReplicated, ...place }: Place): Promise<ReplicaState> {
  const timeout = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`no response within ${timeoutMs / 1000} s`));
    timeout.abort();
  }, timeoutMs);
  const reading = readState(server, isReplicated, timeout.signal);
  reading.catch(() => undefined); // after a timeout, nothing else handles the error
  try {
    return { ...place, state: await Promise.race([reading, late.promise]), problem: null };
  } catch (error) {
    return { ...place, state: null, problem: describeError(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** ClickHouse error messages can contain the whole query. */
const maxProblemLength = 300;

function describeError(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.slice(0, maxProblemLength);
}

type Select = <Row>(query: string) => Promise<Row | undefined>;

async function readState(server: Server, isReplicated: boolean, signal: AbortSignal): Promise<ServerState> {
  const rows = <Row>(query: string): Promise<Row[]> => selectRows<Row>(server, query, {}, signal);
  const first: Select = async <Row>(query: string) => (await rows<Row>(query))[0];
  const [about, parts, mutations, disks, replication] = await Promise.all([
    first<{ version: string; uptime: number }>('SELECT version() AS version, uptime() AS uptime'),
    first<{ parts: string; stored: string; bytes: string }>(
      `SELECT toString(count()) AS parts, toString(sum(rows)) AS stored, toString(sum(bytes_on_disk)) AS bytes
       FROM system.parts WHERE active AND database = currentDatabase()`,
    ),
    first<{ unfinished: string; oldest: string; failure: string }>(
      `SELECT toString(count()) AS unfinished, toString(max(dateDiff('second', create_time, now()))) AS oldest,
         argMax(latest_fail_reason, latest_fail_time) AS failure
       FROM system.mutations WHERE database = currentDatabase() AND NOT is_done`,
    ),
    rows<{ name: string; free: string; total: string }>(
      'SELECT name, toString(free_space) AS free, toString(total_space) AS total FROM system.disks ORDER BY name LIMIT 20',
    ),
    isReplicated ? readReplication(first) : null,
  ]);
  const unfinished = Number(mutations?.unfinished);
  return {
    version: about?.version ?? '',
    uptimeSeconds: about?.uptime ?? 0,
    parts: { active: Number(parts?.parts), rows: Number(parts?.stored), bytes: Number(parts?.bytes) },
    mutations: {
      unfinished,
      oldestSeconds: unfinished === 0 ? null : Number(mutations?.oldest),
      failure: mutations?.failure.slice(0, 1_000) || null,
    },
    disks: disks.map(({ name, free, total }) => ({ name, freeBytes: Number(free), totalBytes: Number(total) })),
    replication,
  };
}

/** These columns do not require a request to Keeper, so the query does not block while Keeper is unavailable. */
async function readReplication(first: Select): Promise<ReplicationState> {
  const row = await first<{ unwritable: string; expired: string; delay: string; queue: string }>(
    `SELECT toString(countIf(is_readonly)) AS unwritable, toString(countIf(is_session_expired)) AS expired,
       toString(max(absolute_delay)) AS delay, toString(sum(queue_size)) AS queue
     FROM system.replicas WHERE database = currentDatabase()`,
  );
  return {
    isReadOnly: row?.unwritable !== '0',
    isSessionExpired: row?.expired !== '0',
    delaySeconds: Number(row?.delay),
    queuedTasks: Number(row?.queue),
  };
}
