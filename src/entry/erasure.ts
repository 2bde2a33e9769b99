import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { clickhouseErasure } from '../adapters/clickhouse/erasure/erasure-engine.ts';
import { postgresOperatorErasures } from '../adapters/postgres/operator-erasures.ts';
import { ed25519ProofSigner } from '../adapters/vault/proof-signer.ts';
import { textOfIds, toErasedIds } from '../domain/erasure.ts';
import type { ListedByOperator, StoredProof } from '../ports/erasure.ts';
import { requireRecordedTopology } from '../usecases/admin/topology.ts';
import { receiveErasure } from '../usecases/privacy/receive-erasure.ts';
import { type Config, readConfig } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { createLogger } from './logging.ts';

export type GivenIds = { readonly file: string } | { readonly ids: readonly string[] };

/** Queues the erasure of devices from the data of all partners. Returns the ID of the request. */
export async function requestErasure(
  given: GivenIds,
  requestedBy: string,
  config: Config = readConfig(),
): Promise<{ readonly id: number; readonly ids: number; readonly invalidLines: number }> {
  const log = createLogger({ name: 'inlet-privacy', level: 'silent' });
  const opened = await openList(given);
  return withTopology(config, log, async ({ db, engine, ...topology }) => {
    await requireRecordedTopology(topology);
    const deps = { erasures: postgresOperatorErasures(db), erasureEngine: clickhouseErasure(engine) };
    return receiveErasure(deps, requestedBy, opened);
  });
}

async function openList(given: GivenIds): Promise<{ readonly body: Readable; readonly isGzip: boolean }> {
  if ('ids' in given) {
    const text = textOfIds(toErasedIds(given.ids));
    return { body: Readable.from([Buffer.from(text)], { objectMode: false }), isGzip: false };
  }
  const file = await open(given.file);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  await file.close();
  const isGzip = bytesRead === 2 && buffer.readUInt16BE(0) === 0x1f8b;
  return { body: createReadStream(given.file), isGzip };
}

export async function listErasures(limit: number, config: Config = readConfig()): Promise<readonly ListedByOperator[]> {
  return withStore(config, (erasures) => erasures.list(limit));
}

export async function findProof(id: number, config: Config = readConfig()): Promise<StoredProof | null> {
  return withStore(config, (erasures) => erasures.findProof(id));
}

function withStore<T>(
  config: Config,
  run: (erasures: ReturnType<typeof postgresOperatorErasures>) => Promise<T>,
): Promise<T> {
  const log = createLogger({ name: 'inlet-privacy', level: 'silent' });
  return withTopology(config, log, ({ db }) => run(postgresOperatorErasures(db)));
}

/** Returns the public key with which proofs are verified, Base64, or null if no key is configured. */
export function publicKeyOfProofs(config: Config = readConfig()): string | null {
  return ed25519ProofSigner(config.INLET_PROOF_KEY).publicKey;
}
