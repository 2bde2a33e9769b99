import { describe, expect, it } from 'vitest';
import { Failure } from '../../domain/failure.ts';
import { defaultLimits } from '../../domain/limits.ts';
import { maxExportAttempts, maxExportWaitSeconds } from '../../domain/reject-export.ts';
import type { ClaimedExport, FileToExport, RejectExportQueue } from '../../ports/reject-export.ts';
import { type ExportRejectsDeps, exportRejects } from './export-rejects.ts';

const claim: ClaimedExport = {
  exportId: 1,
  attempt: 1,
  tries: 1,
  openSeconds: 60,
  partnerId: 7,
  folder: 'acme/rejects/1/',
  isExpired: false,
  isNew: true,
  source: { jobId: 1, partnerId: 7, pathType: 0, filePath: 'a.csv' },
  keyType: 1,
  unhyphenatedIds: false,
};
const file: FileToExport = { fileId: 3, path: 'a.csv', object: { key: 'acme/a.csv', etag: 'x', size: 1 } };

class Unavailable extends Error {}
/** The worker is stopped while it runs the export. */
class Shutdown extends Error {}

/** Runs one export and returns the calls to the queue and the storage. */
async function callsOf(
  given: Partial<ClaimedExport>,
  error: Error | null,
  remove: () => Promise<void> = async () => undefined,
  renew: () => Promise<boolean> = async () => true,
  drop: () => Promise<void> = async () => undefined,
): Promise<string[]> {
  const calls: string[] = [];
  const stop = new AbortController();
  let isDue = true;
  const rejectQueue: RejectExportQueue = {
    claim: async () => {
      const found = isDue ? { ...claim, ...given } : null;
      isDue = false;
      return found;
    },
    listFiles: async () => [file],
    start: async () => [file],
    renew,
    isOtherDue: async () => false,
    endTurn: async () => void calls.push('end turn'),
    commitFile: async (_claim, _file, outcome) => {
      calls.push(`commit ${outcome.is === 'failed' ? outcome.failure.code : outcome.is}`);
      return true;
    },
    finish: async (_claim, failure) => void calls.push(`finish ${failure?.code ?? 'done'}`),
    postpone: async (_claim, seconds, { counts }) =>
      void calls.push(`postpone ${seconds}${counts ? '' : ', not counted'}`),
    remove: async () => void calls.push('remove'),
  };
  const deps: ExportRejectsDeps = {
    rejectQueue,
    rejectReader: {
      open: async () => {
        if (error instanceof Shutdown) stop.abort();
        throw error ?? new Error('no file is read in this test');
      },
      drop: async () => {
        calls.push('drop');
        await drop();
      },
      dropAttempt: async ({ attempt }) => void calls.push(`drop attempt ${attempt}`),
    },
    rejectStorage: {
      write: async () => 1,
      remove: async (prefix) => {
        calls.push(`remove ${prefix}`);
        await remove();
      },
      urlOf: async () => '',
    },
    attributes: {
      list: async () => [],
      findKeys: async () => new Set(),
      create: async () => Promise.reject(new Error('unused')),
      rename: async () => false,
      retire: async () => false,
      tie: async () => false,
    },
    sources: { withObjects: async () => Promise.reject(new Error('unused')) },
    limits: defaultLimits,
    isUnavailable: (cause) => cause instanceof Unavailable,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
  await exportRejects(deps, stop.signal);
  return calls;
}

describe('exportRejects', () => {
  it('removes the objects of an expired export, then its record', async () => {
    expect(await callsOf({ isExpired: true }, null)).toEqual(['remove acme/rejects/1/', 'drop', 'remove']);
  });

  it('tries to remove an expired export again, regardless of the number of failures', async () => {
    const outage = () => Promise.reject(new Error('connection lost'));
    const calls = await callsOf({ isExpired: true, isNew: false, tries: maxExportAttempts + 1 }, null, outage);
    expect(calls).toEqual(['remove acme/rejects/1/', 'drop', 'postpone 10']);
  });

  it('tries again after an outage', async () => {
    const calls = await callsOf({}, new Error('connection lost'));
    expect(calls).toEqual(['remove acme/rejects/1/', 'drop', 'postpone 10']);
  });

  it('for a day after the request, does not count attempts that fail because a dependency is unavailable', async () => {
    const last = { isNew: false, tries: maxExportAttempts };
    expect(await callsOf(last, new Unavailable())).toEqual(['drop', 'postpone 10, not counted']);
    const overdue = { ...last, openSeconds: maxExportWaitSeconds };
    expect(await callsOf(overdue, new Unavailable())).toEqual(['drop', 'finish load_abandoned']);
  });

  it('does not count an attempt that ends because the worker stops, and drops its tables before the next one', async () => {
    const last = { isNew: false, tries: maxExportAttempts, openSeconds: maxExportWaitSeconds };
    expect(await callsOf(last, new Shutdown())).toEqual(['drop', 'postpone 0, not counted']);
  });

  it('releases the claim if its tables cannot be dropped', async () => {
    const drop = () => Promise.reject(new Unavailable());
    const calls = await callsOf({ isNew: false }, new Unavailable(), undefined, undefined, drop);
    expect(calls).toEqual(['drop', 'postpone 10, not counted']);
  });

  it('keeps the objects of earlier attempts', async () => {
    expect(await callsOf({ isNew: false, tries: 2 }, new Error('connection lost'))).toEqual(['drop', 'postpone 10']);
  });

  it('fails after the last attempt', async () => {
    const calls = await callsOf({ isNew: false, tries: maxExportAttempts }, new Error('connection lost'));
    expect(calls).toEqual(['drop', 'finish load_abandoned']);
  });

  it('drops only the tables of its own attempt after another worker has claimed the export', async () => {
    const renewed = Promise.withResolvers<void>();
    const renew = async () => {
      renewed.resolve();
      return false;
    };
    const calls = await callsOf({ isExpired: true, attempt: 2 }, null, () => renewed.promise, renew);
    expect(calls).toEqual(['remove acme/rejects/1/', 'drop attempt 2', 'remove']);
  });

  it('fails at once if a retry cannot succeed', async () => {
    const calls = await callsOf({ isNew: false }, new Failure('storage_access_denied', 'no access'));
    expect(calls).toEqual(['drop', 'finish storage_access_denied']);
  });
});
