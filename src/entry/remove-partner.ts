import { setTimeout as pause } from 'node:timers/promises';
import { clickhouseErasure } from '../adapters/clickhouse/erasure/erasure-engine.ts';
import { clickhouseRemovalEngine } from '../adapters/clickhouse/removal-engine.ts';
import { clickhouseWarehouse } from '../adapters/clickhouse/warehouse.ts';
import { postgresFileStore } from '../adapters/postgres/file-store.ts';
import { s3RemovalStorage } from '../adapters/s3/removal-storage.ts';
import { ed25519ProofSigner } from '../adapters/vault/proof-signer.ts';
import { Failure } from '../domain/failure.ts';
import type { Removal } from '../domain/partner-removal.ts';
import {
  type RemovalPreview,
  type RemovePartnerDeps,
  previewRemoval,
  removePartner,
} from '../usecases/admin/remove-partner.ts';
import { dropOrphanedStages } from '../usecases/load/orphaned-stages.ts';
import { requireRecordedTopology } from '../usecases/admin/topology.ts';
import { readConfig } from './config.ts';
import { connectShards, withTopology } from './connect-engine.ts';
import { rebuildDeviceIndex } from './device-index.ts';
import { rebuild } from './known-devices.ts';
import { createLogger } from './logging.ts';
import { storageUserRemoverOf } from './storage-provisioner.ts';
import { operatorName } from './operator-name.ts';
import { cliDeps } from './wire-cli.ts';
import { connectServers } from './wire-shared.ts';

const pollMs = 1_000;

type Options = { readonly withoutStorage: boolean; readonly report: (progress: string) => void };

export function previewPartnerRemoval(name: string, options: Options): Promise<RemovalPreview> {
  return withRemoval(options, (deps) => previewRemoval(deps, name));
}

export function removePartnerNamed(name: string, confirm: string, options: Options): Promise<Removal> {
  const request = { name, confirm, requestedBy: operatorName() };
  return withRemoval(options, (deps) => removePartner(deps, request, new AbortController().signal));
}

async function withRemoval<T>(
  { withoutStorage, report }: Options,
  run: (deps: RemovePartnerDeps) => Promise<T>,
): Promise<T> {
  const config = { ...readConfig(), INLET_METRICS_PORT: undefined, INLET_OTLP_URL: undefined };
  const removeUser = withoutStorage ? null : storageUserRemoverOf(config);
  if (!withoutStorage && removeUser === null) {
    throw new Failure(
      'invalid_request',
      'The storage user cannot be removed. Set INLET_S3_ENDPOINT and INLET_STORAGE_ADMIN_*, or remove it yourself and pass --without-storage.',
    );
  }
  const log = createLogger({ name: 'inlet-cli', level: 'error' });
  await withTopology(config, log, requireRecordedTopology);
  const role = { name: 'inlet-cli', boss: 'send', actor: operatorName() } as const;
  const connections = await connectServers(config, role, log);
  const connected = connectShards(connections);
  const { wrapPort } = connections.failpoints;
  try {
    return await run({
      ...cliDeps(connections),
      removalEngine: wrapPort('removalEngine', clickhouseRemovalEngine(connected.engine)),
      removalStorage: wrapPort('removalStorage', s3RemovalStorage(connections.s3, config.INLET_S3_BUCKET, removeUser)),
      erasureEngine: clickhouseErasure(connected.engine),
      proofSigner: ed25519ProofSigner(config.INLET_PROOF_KEY),
      dropOrphanedStages: () =>
        dropOrphanedStages(
          {
            files: postgresFileStore(connections.db, connections.boss, config.INLET_FILES_OUT_PER_LANE),
            stage: connected.stage,
            warehouse: clickhouseWarehouse(connected.engine),
            log,
          },
          'all',
        ),
      forgetDevices: async () => {
        await rebuild(config);
        await rebuildDeviceIndex((left) => report(`${left} partners and audiences left`), config);
      },
      report,
      pause: async (signal) => pause(pollMs, undefined, { signal }),
    });
  } finally {
    await connections.close();
    await connected.closeEngine();
  }
}
