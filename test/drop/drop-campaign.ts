import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { directorySpool } from '../../src/adapters/archive-spool.ts';
import { type Engine, closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseDropItems } from '../../src/adapters/clickhouse/drop-items.ts';
import { httpDropApi } from '../../src/adapters/drop/drop-api.ts';
import { postgresCycleErasures } from '../../src/adapters/postgres/cycle-erasures.ts';
import { postgresDropCycles } from '../../src/adapters/postgres/drop-cycles.ts';
import { s3DropStorage } from '../../src/adapters/s3/drop-storage.ts';
import { hashOfDevice } from '../../src/adapters/vault/device-hash.ts';
import { ed25519ProofSigner } from '../../src/adapters/vault/proof-signer.ts';
import type { DropPolicy } from '../../src/domain/drop-policy.ts';
import { Secret } from '../../src/domain/secret.ts';
import { connectSharedStorage } from '../../src/entry/shared-bucket.ts';
import { cycleSuppression } from '../../src/entry/suppression.ts';
import { wrapMethods } from '../../src/entry/wrap-methods.ts';
import { type DropDeps, type DropOutcome, runDropCycle } from '../../src/usecases/privacy/run-drop-cycle.ts';
import { runErasures } from '../../src/usecases/privacy/run-erasures.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { type Wired, wireUp } from '../support/wired.ts';
import { type DropServer, startDropServer } from './drop-server.ts';

/** The process has died. Nothing that it calls afterward has any effect. */
class Killed extends Error {}

type Kill = { readonly at: number; readonly isBefore: boolean };

const signal = new AbortController().signal;
export const apiKey = 'the-key-of-the-broker';
export const proofSeed = createHash('sha256').update('drop campaign').digest('hex');

/** Runs cycles against real stores and the server in drop-server.ts. */
export class DropCampaign {
  readonly stores: TestStores;
  readonly server: DropServer;
  readonly folder = mkdtempSync(join(tmpdir(), 'inlet-drop-'));
  readonly engine: Engine;
  readonly wired: Wired;
  readonly deps: DropDeps;
  readonly publicKey = ed25519ProofSigner(new Secret(proofSeed)).publicKey;
  policy: DropPolicy = { exempt: [], shared: 'opted_out', other_lists: 'leave' };
  now = new Date('2026-08-20T19:00:00Z');

  private constructor(stores: TestStores, server: DropServer, wired: Wired) {
    this.stores = stores;
    this.server = server;
    this.wired = wired;
    this.engine = connectTestEngine(stores);
    const s3 = connectSharedStorage(stores.config);
    const { db } = wired;
    this.deps = {
      api: httpDropApi({ url: server.url, apiKey: new Secret(apiKey) }),
      spool: directorySpool(this.folder),
      storage: s3DropStorage(s3, { bucket: bucketOf(stores), directory: this.folder }),
      cycles: postgresDropCycles(db),
      items: clickhouseDropItems(this.engine),
      suppression: cycleSuppression(stores.config),
      erasures: postgresCycleErasures(db),
      readPolicy: () => Promise.resolve({ policy: this.policy, exemptHashes: this.policy.exempt }),
      signer: ed25519ProofSigner(new Secret(proofSeed)),
      digest: (content) => createHash('sha256').update(content).digest('hex'),
      now: () => this.now,
      keepsHours: true,
      log: silentLog,
    };
  }

  static async start(): Promise<DropCampaign> {
    const stores = await createStores('two');
    const [server, wired] = await Promise.all([startDropServer(apiKey), wireUp(stores)]);
    await connectSharedStorage(stores.config).send(new CreateBucketCommand({ Bucket: bucketOf(stores) }));
    return new DropCampaign(stores, server, wired);
  }

  async stop(): Promise<void> {
    await this.server.close();
    await closeEngine(this.engine);
    await this.wired.close();
    await this.stores.drop();
    rmSync(this.folder, { recursive: true });
  }

  /** Runs one command. With `kill`, the process dies at this call, and the result is null. */
  async sync(kill?: Kill): Promise<DropOutcome | null> {
    try {
      return await runDropCycle(kill ? mortal(this.deps, kill) : this.deps, signal);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      // The lease of a dead process has expired by the time the next command runs.
      await withDatabase(this.stores, (client) => client.query('UPDATE drop_cycle SET claimed_until = NULL'));
      return null;
    }
  }

  /** Runs commands and workers until no cycle is open. */
  async finish(): Promise<DropOutcome> {
    for (let attempt = 0; attempt < 50; attempt += 1) {
      const outcome = await this.sync();
      if (outcome && outcome.is !== 'waiting') return outcome;
      await this.resolve(outcome);
    }
    throw new Error('the cycle does not end');
  }

  /** Performs the step that a cycle waits for. */
  async resolve(outcome: DropOutcome | null): Promise<void> {
    if (outcome?.is !== 'waiting') return;
    if (outcome.for === 'erasure') await this.erase();
    else if (outcome.for === 'previous_batch') await this.askSupport();
    else if (outcome.for === 'opening') this.now = new Date(this.now.getTime() + outcome.seconds * 1000);
    else this.server.validate();
  }

  /** An archive was lost while it was being received. The operator gets it from DROP support. */
  async askSupport(): Promise<void> {
    const { name, content } = this.server.supportArchive();
    const sha256 = this.deps.digest(content);
    if (await this.deps.cycles.hasArchive(sha256)) return this.server.validate();
    await this.deps.spool.save(name, Readable.from([content], { objectMode: false }));
  }

  async erase(): Promise<void> {
    // The engine would take minutes to delete the files of replaced parts.
    const erasureEngine = { ...this.wired.erasureEngine, countReplacedParts: () => Promise.resolve(0) };
    await runErasures({ ...this.wired, erasureEngine, log: silentLog }, signal);
  }

  /** Stores the devices in the same way as an import and an audience. */
  async store(devices: readonly string[]): Promise<void> {
    const [[server]] = this.engine.shards;
    const insert = async (table: string, values: readonly object[]): Promise<void> =>
      void (await server.insert({
        table,
        values,
        format: 'JSONEachRow',
        clickhouse_settings: { distributed_foreground_insert: 1 },
      }));
    const imported = devices.filter((_device, index) => index % 3 !== 0);
    const inAudience = devices.filter((_device, index) => index % 3 !== 1);
    await insert(
      'device_attributes',
      imported.map((device) => ({ partner_id: 1, attribute_id: 1, device, id_type: 1, version: 1 })),
    );
    await insert(
      'audience_devices',
      inAudience.map((device) => ({ partner_id: 1, audience_id: 1, generation: 1, device, event: '', file_id: 1 })),
    );
    await insert(
      'known_devices',
      imported.map((device) => ({ device })),
    );
  }

  async storedDevices(): Promise<Set<string>> {
    const found = await selectOnShards(
      this.stores,
      `SELECT toString(device) FROM device_attributes_local UNION DISTINCT SELECT toString(device) FROM audience_devices_local
       UNION DISTINCT SELECT toString(device) FROM known_devices_local`,
    );
    return new Set(found);
  }

  /** Returns the hashes on the suppression list, which is the same on every server. */
  async suppressedHashes(): Promise<Set<string>> {
    const found = await selectOnShards(
      this.stores,
      'SELECT base64Encode(hash) FROM suppressed_hashes_local FINAL ORDER BY 1',
    );
    return new Set(found);
  }

  /** Returns the step of the open cycle, or null. */
  async openStep(): Promise<string | null> {
    const [cycle] = await this.deps.cycles.list(1);
    return cycle && cycle.finishedAt === null ? cycle.step : null;
  }

  /** Merges the parts, because every statement in a campaign adds some. */
  async merge(): Promise<void> {
    for (const table of ['drop_items_local', 'suppressed_hashes_local', 'erased_devices_local'])
      await commandOnShards(this.stores, `OPTIMIZE TABLE ${table} FINAL`);
  }

  writeFile(name: string, content: Buffer | string): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }
}

export function bucketOf({ database }: TestStores): string {
  return `drop-${database.replaceAll('_', '-')}`;
}

/** Counts all calls of the process. The process dies at the given call and does not execute any later call. */
function mortal(deps: DropDeps, { at, isBefore }: Kill): DropDeps {
  let calls = 0;
  let isDead = false;
  const wrap = <Port extends object>(port: Port): Port =>
    wrapMethods(port, async (_method, call) => {
      if (isDead) throw new Killed();
      calls += 1;
      const dies = calls === at;
      if (dies && isBefore) isDead = true;
      if (isDead) throw new Killed();
      const result = await call();
      if (dies) isDead = true;
      if (isDead) throw new Killed();
      return result;
    });
  return {
    ...deps,
    api: wrap(deps.api),
    spool: wrap(deps.spool),
    storage: wrap(deps.storage),
    cycles: wrap(deps.cycles),
    items: wrap(deps.items),
    suppression: wrap(deps.suppression),
    erasures: wrap(deps.erasures),
  };
}

/** The hash of a device, as DROP publishes it. */
export function hashOf(device: string): string {
  return hashOfDevice(device.toLowerCase().replaceAll(/[^0-9a-f]/g, ''));
}
