import { faultOfCompression, faultOfRows, faultOfSize, noBytes, rowsOf, sniffLayout } from '@inlet/row-rule/file-rule';
import { RowCounts } from '@inlet/row-rule/row-counts';
import { marketplaceShapes, rowRule } from '@inlet/row-rule/row-rule';
import type { KeyLookup } from '@inlet/row-rule/validate-row';
import { RowValidator } from '@inlet/row-rule/validate-rows';
import { badRowShares } from '@inlet/row-rule/file-rule';
import { type Attribute, importKeys } from '../../domain/attribute.ts';
import { type DryRun, type SampledFile, dryRunLimits } from '../../domain/dry-run.ts';
import { Failure } from '../../domain/failure.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type { KeyType } from '../../domain/import-log.ts';
import type { Limits } from '../../domain/limits.ts';
import type { Partner } from '../../domain/partner.ts';
import type { DryRunStorage, ReadSample } from '../../ports/dry-run.ts';
import type { NewImport } from '../../ports/import-log-store.ts';
import type { FileToLoad } from '../../ports/lane-store.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import type { AttributeStore, PartnerStore } from '../../ports/partner-store.ts';
import { listImportFiles } from '../lane/list-files.ts';
import { requireValidImport } from './queue-import.ts';

export type DryRunDeps = {
  readonly dryRunStorage: DryRunStorage;
  readonly readSample: ReadSample;
  readonly partners: Pick<PartnerStore, 'readSettings'>;
  readonly attributes: AttributeStore;
  readonly limits: Limits;
  readonly canAssumeRoles: boolean;
};

/**
 * Predicts the outcome of an import from the first rows of its first files. Creates no job. Throws for an invalid request,
 * as the import would. All other failures are part of the result.
 */
export async function dryRunImport(deps: DryRunDeps, partner: Partner, request: NewImport): Promise<DryRun> {
  requireValidImport(deps, partner, request);
  return withinLimits(partner.id, async (signal) => {
    const attributes = await deps.attributes.list(partner.id, { retired: true });
    const { unhyphenatedIds } = await deps.partners.readSettings(partner.id);
    const { filePath, pathType, compressed, credentials } = request;
    const source = { partnerId: partner.id, pathType, filePath };
    try {
      return await deps.dryRunStorage.withObjects(source, credentials, async (objects) => {
        const files = await listImportFiles(deps.limits, objects, { source, prefix: partner.prefix, compressed });
        const rules = { keys: keysOf(attributes, request.keyType), unhyphenatedIds };
        const sampled: SampledFile[] = [];
        for (const file of files.slice(0, dryRunLimits.files)) {
          signal.throwIfAborted();
          sampled.push(await sampleFile(deps, objects, file, rules, signal));
        }
        return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0), sampled, failure: null };
      });
    } catch (error) {
      if (error instanceof Failure && error.isFinal) return { files: 0, bytes: 0, sampled: [], failure: error };
      throw error;
    }
  });
}

/** The partners of the dry runs in progress in this process. */
const running = new Map<symbol, PartnerId>();

/** The slot is occupied until the last request to the storage has ended, which can be later than the response. */
async function withinLimits(partnerId: PartnerId, run: (signal: AbortSignal) => Promise<DryRun>): Promise<DryRun> {
  const ofPartner = [...running.values()].filter((id) => id === partnerId).length;
  if (running.size >= dryRunLimits.concurrent || ofPartner >= dryRunLimits.ofPartner) {
    throw new Failure('unavailable', 'Too many dry runs are in progress.', { retryAfterSeconds: 1 });
  }
  const slot = Symbol('dry run');
  running.set(slot, partnerId);
  const late = Promise.withResolvers<never>();
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort();
    late.reject(new Failure('unavailable', `The storage did not respond within ${dryRunLimits.seconds} seconds.`));
  }, dryRunLimits.seconds * 1000);
  const result = run(stop.signal).finally(() => {
    clearTimeout(timer);
    running.delete(slot);
  });
  return Promise.race([result, late.promise]);
}

async function sampleFile(
  { readSample, limits }: DryRunDeps,
  objects: ObjectStore,
  file: FileToLoad,
  { keys, unhyphenatedIds }: { readonly keys: KeyLookup; readonly unhyphenatedIds: boolean },
  signal: AbortSignal,
): Promise<SampledFile> {
  const counts = new RowCounts(0, keys);
  const found = {
    path: file.path,
    bytes: file.size,
    layout: null,
    rows: counts.counted(0),
    isComplete: false,
  } as const;
  if (file.size === 0) return { ...found, isGzip: null, isComplete: true, fault: noBytes };
  try {
    const opened = await objects.open(file, signal);
    try {
      const { isGzip } = opened;
      const fault = faultOfCompression(file.gzip, isGzip) ?? faultOfSize(file.size, isGzip, limits);
      if (fault) return { ...found, isGzip, fault };
      const { layout, fault: unknownLayout } = sniffLayout(opened.head, marketplaceShapes);
      if (unknownLayout) return { ...found, isGzip, fault: unknownLayout };
      const lines = dryRunLimits.rows + (layout.headerRow ?? 0);
      const sample = await readSample(opened, file, { lines, bytes: dryRunLimits.bytes });
      if (sample.fault) return { ...found, isGzip, layout, fault: sample.fault };
      const context = {
        layout: { ...layout, unhyphenatedIds },
        rule: rowRule(layout, limits.maxLineBytes),
        attributeIdByKey: keys,
      };
      const validator = new RowValidator(context, limits.maxLineBytes, (row, reason, raw) =>
        counts.add(row, reason, raw),
      );
      validator.push(sample.content);
      if (sample.isComplete) validator.end();
      const rows = rowsOf(counts.loadCounts(validator.accepted), false);
      return {
        ...found,
        isGzip,
        layout,
        rows: counts.counted(validator.accepted),
        isComplete: sample.isComplete,
        fault: sample.isComplete ? faultOfRows(rows, badRowShares.marketplace) : null,
      };
    } finally {
      opened.body.destroy();
    }
  } catch (error) {
    if (error instanceof Failure && error.isFinal) return { ...found, isGzip: null, fault: error };
    throw error;
  }
}

function keysOf(attributes: readonly Attribute[], type: KeyType): KeyLookup {
  const byKey = new Map(importKeys(attributes, type).map(({ key, attributeId }) => [key, attributeId]));
  const isActive = (key: string): boolean => (byKey.get(key) ?? 0) !== 0;
  return { has: isActive, get: (key) => byKey.get(key), isRetired: (key) => byKey.get(key) === 0 };
}
