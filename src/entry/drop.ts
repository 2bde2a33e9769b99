import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { directorySpool } from '../adapters/archive-spool.ts';
import { clickhouseDropItems } from '../adapters/clickhouse/drop-items.ts';
import { httpDropApi } from '../adapters/drop/drop-api.ts';
import { postgresCycleErasures } from '../adapters/postgres/cycle-erasures.ts';
import { postgresDropCycles } from '../adapters/postgres/drop-cycles.ts';
import { s3DropStorage } from '../adapters/s3/drop-storage.ts';
import { ed25519ProofSigner } from '../adapters/vault/proof-signer.ts';
import { ZipError, readZipEntries } from '../adapters/zip-archive.ts';
import { InvalidArchive, acceptsArchive, dayOfArchive, listsOfArchive } from '../domain/drop.ts';
import { type DropPolicy, maxExempt } from '../domain/drop-policy.ts';
import type { SignedDropProof } from '../domain/drop-proof.ts';
import { Failure } from '../domain/failure.ts';
import type { DropCycle, DropFetch, DropUpload } from '../ports/drop.ts';
import { requireRecordedTopology } from '../usecases/admin/topology.ts';
import { amendAnswers } from '../usecases/privacy/amend-drop.ts';
import { type DropDeps, type DropOutcome, closeDropCycle, runDropCycle } from '../usecases/privacy/run-drop-cycle.ts';
import { type Config, readConfig } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { isLocal } from './drop-settings.ts';
import { createLogger } from './logging.ts';
import { connectSharedStorage } from './shared-bucket.ts';
import { cycleSuppression, hashOfEntry } from './suppression.ts';

const policySchema = z.strictObject({
  exempt: z.array(z.string()).max(maxExempt).default([]),
  shared: z.enum(['opted_out', 'deleted']).default('opted_out'),
  other_lists: z.enum(['leave', 'not_found']).default('leave'),
});

/** Errors identify the entry but never contain its text, which can be an advertising ID. */
export function parseDropPolicy(text: string): {
  readonly policy: DropPolicy;
  readonly exemptHashes: readonly string[];
} {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Failure('invalid_request', 'The policy file is not valid JSON.');
  }
  const parsed = policySchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue && issue.path.length > 0 ? `"${issue.path.join('.')}": ` : '';
    throw new Failure('invalid_request', `The policy file is invalid. ${where}${issue?.message ?? ''}`);
  }
  const policy = parsed.data;
  const exemptHashes = policy.exempt.map((entry, index) => hashOfEntry(entry, `Entry ${index + 1} of "exempt"`));
  return { policy, exemptHashes };
}

/** Runs the open cycle, or a new one, until it has ended or has to wait. `archive` is a file that DROP has provided. */
export async function syncDrop(
  { archive, signal }: { readonly archive?: string | undefined; readonly signal: AbortSignal },
  config: Config = readConfig(),
): Promise<DropOutcome> {
  return withDrop(config, async (deps) => {
    if (archive !== undefined) {
      await checkArchive(archive);
      const [latest] = await deps.cycles.list(1);
      if (latest && !acceptsArchive(latest.step))
        throw new Failure(
          'invalid_request',
          `Cycle ${latest.id} has read its archive. Run the command without --archive.`,
        );
      const name = basename(archive);
      await deps.spool.save(name, createReadStream(archive), dayOfArchive(name, deps.now()) ?? undefined);
    }
    return runDropCycle(deps, signal);
  });
}

/** Another file would replace an archive that DROP has delivered. */
async function checkArchive(path: string): Promise<void> {
  try {
    listsOfArchive((await readZipEntries(path)).map(({ name }) => name));
  } catch (error) {
    throw error instanceof ZipError ? new InvalidArchive(error.message) : error;
  }
}

/** Ends a cycle whose remaining answers DROP does not expect. */
export async function closeDrop(cycleId: number, config: Config = readConfig()): Promise<void> {
  await withDrop(config, (deps) => closeDropCycle(deps, cycleId));
}

export async function amendDrop(
  { cycleId, file, signal }: { readonly cycleId: number; readonly file: string; readonly signal: AbortSignal },
  config: Config = readConfig(),
): Promise<string> {
  const text = await readFile(file, 'utf8');
  return withDrop(config, (deps) => amendAnswers(deps, cycleId, text, signal));
}

export type DropStatusReport = { readonly fetch: DropFetch | null; readonly cycles: readonly DropCycle[] };

export async function readDropStatus(limit: number, config: Config = readConfig()): Promise<DropStatusReport> {
  return withCycles(config, async (cycles) => ({ fetch: await cycles.findFetch(), cycles: await cycles.list(limit) }));
}

export type CycleReport = { readonly cycle: DropCycle; readonly uploads: readonly DropUpload[] };

export async function readCycle(id: number, config: Config = readConfig()): Promise<CycleReport | null> {
  return withCycles(config, async (cycles) => {
    const cycle = await cycles.find(id);
    return cycle && { cycle, uploads: await cycles.listUploads(id) };
  });
}

export async function findDropProof(id: number, config: Config = readConfig()): Promise<SignedDropProof | null> {
  return withCycles(config, (cycles) => cycles.findProof(id));
}

async function withCycles<T>(
  config: Config,
  run: (cycles: ReturnType<typeof postgresDropCycles>) => Promise<T>,
): Promise<T> {
  const log = createLogger({ name: 'inlet-drop', level: 'silent' });
  return withTopology(config, log, ({ db }) => run(postgresDropCycles(db)));
}

async function withDrop<T>(config: Config, run: (deps: DropDeps) => Promise<T>): Promise<T> {
  const { INLET_DROP_API_KEY: apiKey, INLET_DROP_BUCKET: bucket, INLET_DROP_POLICY: policyFile } = config;
  if (!apiKey || bucket === undefined)
    throw new Failure('invalid_request', 'Set INLET_DROP_API_KEY and INLET_DROP_BUCKET. See operators/drop.md.');
  const log = createLogger({ name: 'inlet-drop', level: config.INLET_LOG_LEVEL });
  const s3 = connectSharedStorage(config);
  const directory = config.INLET_DROP_DIRECTORY;
  try {
    return await withTopology(config, log, async ({ db, engine, ...topology }) => {
      await requireRecordedTopology(topology);
      return run({
        api: httpDropApi({ url: config.INLET_DROP_URL, apiKey }),
        spool: directorySpool(directory),
        storage: s3DropStorage(s3, { bucket, directory }),
        cycles: postgresDropCycles(db),
        items: clickhouseDropItems(engine),
        suppression: cycleSuppression(config),
        erasures: postgresCycleErasures(db),
        readPolicy: async () => parseDropPolicy(policyFile === undefined ? '{}' : await readFile(policyFile, 'utf8')),
        signer: ed25519ProofSigner(config.INLET_PROOF_KEY),
        digest: (content) => createHash('sha256').update(content).digest('hex'),
        now: () => new Date(),
        keepsHours: !isLocal(config.INLET_DROP_URL),
        log,
      });
    });
  } finally {
    s3.destroy();
  }
}
