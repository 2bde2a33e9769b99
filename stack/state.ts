import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readIfExists, writeSecretFile } from './files.ts';
import { cloneDirectory, stackDirectory } from './paths.ts';
import { pickPort } from './ports.ts';

const serverPortsSchema = z.object({ http: z.int(), tcp: z.int() });
const zookeeperPortsSchema = z.object({ client: z.int(), quorum: z.int(), election: z.int() });

const oneOrTwo = z.coerce.number().pipe(z.union([z.literal(1), z.literal(2)]));
const oneOrThree = z.coerce.number().pipe(z.union([z.literal(1), z.literal(3)]));

/** The numbers of servers in a stack. */
const sizes = { shardCount: oneOrTwo, replicaCount: oneOrTwo, zookeeperCount: oneOrThree };
export const sizeSchema = z.object(sizes).partial();
export type Size = z.infer<typeof sizeSchema>;

const stateSchema = z.object({
  clone: z.string(),
  ...sizes,
  // Stacks created by older versions have no replicas.
  replicaCount: sizes.replicaCount.default(1),
  zookeeperCount: sizes.zookeeperCount.default(1),
  cephClusterId: z.uuid(),
  ports: z.object({
    postgres: z.int(),
    clickhouse: z.array(serverPortsSchema),
    zookeeper: z.array(zookeeperPortsSchema).default([]),
    cephMonitor: z.int(),
    s3: z.int(),
  }),
  secrets: z.object({
    postgres: z.string(),
    clickhouse: z.string(),
    providerAccessKeyId: z.string(),
    providerSecretAccessKey: z.string(),
    adminAccessKeyId: z.string(),
    adminSecretAccessKey: z.string(),
    // Stacks created by older versions have no sealing key.
    sealing: z.string().default(() => secret(32)),
  }),
});

/** The persistent state of a stack. */
export type State = z.infer<typeof stateSchema>;

const stateFile = join(stackDirectory, 'state.json');
const maxDirectoryBytes = 80;
/** Two shards with two replicas each. */
const maxServers = 4;
const maxZookeepers = 3;

export function readState(): State | undefined {
  const text = readIfExists(stateFile);
  if (text === undefined) return undefined;
  const state = stateSchema.parse(JSON.parse(text));
  if (state.clone !== cloneDirectory) throw new Error(`${stackDirectory} belongs to the clone in ${state.clone}.`);
  return state;
}

export function writeState(state: State): void {
  writeSecretFile(stateFile, `${JSON.stringify(state, null, 2)}\n`);
}

export function portsOf({ ports }: State): number[] {
  return [
    ports.postgres,
    ports.cephMonitor,
    ports.s3,
    ...ports.clickhouse.flatMap(({ http, tcp }) => [http, tcp]),
    ...ports.zookeeper.flatMap(({ client, quorum, election }) => [client, quorum, election]),
  ];
}

function prepareDirectory(): void {
  if (Buffer.byteLength(stackDirectory) > maxDirectoryBytes) {
    throw new Error(
      `${stackDirectory} is too long for Unix socket paths. Set INLET_STACK_DIR to a path of at most ${String(maxDirectoryBytes)} bytes.`,
    );
  }
  mkdirSync(stackDirectory, { recursive: true });
  // "down --purge" removes the whole directory, so it must not contain other files.
  if (!existsSync(stateFile) && readdirSync(stackDirectory).length > 0) {
    throw new Error(`${stackDirectory} is not empty and contains no stack. Choose another INLET_STACK_DIR.`);
  }
  // /var/tmp is world-writable, so never write passwords to another user's directory.
  if (statSync(stackDirectory).uid !== process.getuid?.())
    throw new Error(`${stackDirectory} belongs to another user. Set INLET_STACK_DIR to another directory.`);
  // Other users can traverse the directory but not list it. The user postgres must be able to traverse it.
  chmodSync(stackDirectory, 0o711);
}

function secret(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

async function newState(): Promise<State> {
  const ports: number[] = [];
  const next = async (): Promise<number> => {
    const port = await pickPort(ports);
    ports.push(port);
    return port;
  };
  return {
    clone: cloneDirectory,
    shardCount: 2,
    replicaCount: 1,
    zookeeperCount: 1,
    cephClusterId: randomUUID(),
    ports: {
      postgres: await next(),
      clickhouse: [],
      zookeeper: [],
      cephMonitor: await next(),
      s3: await next(),
    },
    secrets: {
      postgres: secret(16),
      clickhouse: secret(16),
      providerAccessKeyId: `PROVIDER${secret(6).toUpperCase()}`,
      providerSecretAccessKey: secret(20),
      adminAccessKeyId: `ADMIN${secret(6).toUpperCase()}`,
      adminSecretAccessKey: secret(20),
      sealing: secret(32),
    },
  };
}

export async function readOrCreateState(): Promise<State> {
  prepareDirectory();
  const state = readState() ?? (await newState());
  const next = (): Promise<number> => pickPort(portsOf(state));
  // Stacks created by older versions have fewer ports.
  while (state.ports.clickhouse.length < maxServers) {
    state.ports.clickhouse.push({ http: await next(), tcp: await next() });
  }
  while (state.ports.zookeeper.length < maxZookeepers) {
    state.ports.zookeeper.push({ client: await next(), quorum: await next(), election: await next() });
  }
  writeState(state);
  return state;
}
