import type { RecordRetry } from '../../adapters/postgres/queue/tokens.ts';
import { Failure } from '../../domain/failure.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { FileStore } from '../../ports/load-stage.ts';
import { queryOf, wrapMethods } from '../wrap-methods.ts';
import type { Meters } from './metrics.ts';

export type Server = 'postgres' | 'clickhouse' | 'storage' | 'issuer';

/** Records the duration and failures of calls to a port. */
export function meterPort<Port extends object>(meters: Meters, server: Server, port: string, target: Port): Port {
  for (const method of Object.keys(target)) meters.failedCalls.inc({ server, port, method }, 0);
  return wrapMethods(target, (method, call) => {
    const labels = { server, port, method };
    const end = meters.calls.startTimer(labels);
    const returned = call();
    if (!(returned instanceof Promise)) return returned;
    return returned.then(
      (result: unknown) => {
        end();
        return result;
      },
      (error: unknown) => {
        end();
        if (!(error instanceof Failure && error.entry.fault === 'partner')) meters.failedCalls.inc(labels);
        throw error;
      },
    );
  });
}

const sent: ReadonlySet<string> = new Set(['query', 'command', 'exec', 'insert']);
const firstWords: ReadonlySet<string> = new Set([
  'SELECT',
  'WITH',
  'INSERT',
  'ALTER',
  'CREATE',
  'DROP',
  'KILL',
  'SYSTEM',
  'OPTIMIZE',
]);

/** Measures the duration of a shard's statements. */
export function meterShard<Shard extends object>(meters: Meters, index: number, shard: Shard): Shard {
  return wrapMethods(shard, (method, call, [options]) => {
    if (!sent.has(method)) return call();
    const end = meters.statements.startTimer({ statement: statementOf(method, options), shard: String(index + 1) });
    const result = call();
    return result instanceof Promise ? result.finally(() => void end()) : result;
  });
}

function statementOf(method: string, options: unknown): string {
  if (method === 'insert') return 'INSERT';
  const word = /\w+/.exec(queryOf(options))?.[0].toUpperCase() ?? '';
  return firstWords.has(word) ? word : 'other';
}

/** Counts the outcomes of files when they are committed. */
export function meterFiles(meters: Meters, files: FileStore): FileStore {
  return {
    ...files,
    commit: async (claim, outcomes, staged) => {
      const committed = await files.commit(claim, outcomes, staged);
      if (!committed) return false;
      const target = claim.load.target.kind;
      const sizes = new Map(claim.files.map(({ fileId, object }) => [fileId, object.size]));
      for (const outcome of outcomes) {
        if (outcome.is === 'alone') continue;
        for (const { reason, rows } of outcome.counts.rejects) meters.rowsRejected.inc({ reason }, rows);
        if (outcome.is === 'failed') meters.filesFailed.inc({ code: outcome.failure.code });
        if (outcome.is !== 'staged') continue;
        meters.filesLoaded.inc({ target });
        meters.rowsLoaded.inc({ target }, outcome.counts.accepted);
        meters.bytesLoaded.inc({ target }, sizes.get(outcome.fileId) ?? 0);
      }
      return true;
    },
  };
}

/** Counts lane steps and finished jobs. */
export function meterLanes(meters: Meters, lanes: LaneStore): LaneStore {
  const ended = (isDone: boolean): void => meters.jobsEnded.inc({ outcome: isDone ? 'done' : 'failed' });
  return {
    ...lanes,
    nextStep: async (token, maxBatches) => {
      const step = await lanes.nextStep(token, maxBatches);
      // The label value of the publish step is `settle`, because dashboards use this name.
      meters.laneSteps.inc({ step: step.do === 'publish' ? 'settle' : step.do });
      return step;
    },
    finishImport: async (jobId, result) => {
      await lanes.finishImport(jobId, result);
      ended(result.failure === null);
    },
    finishAudienceLoad: async (jobId, failure) => {
      await lanes.finishAudienceLoad(jobId, failure);
      ended(failure === null);
    },
    finishDelete: async (jobId) => {
      await lanes.finishDelete(jobId);
      ended(true);
    },
    failJob: async (jobId, failure) => {
      await lanes.failJob(jobId, failure);
      ended(false);
    },
  };
}

/** Measures the duration and concurrency of a worker's handlers. */
export function meterWork<Handlers extends object>(meters: Meters, handlers: Handlers): Handlers {
  for (const work of Object.keys(handlers)) meters.busy.set({ work }, 0);
  return wrapMethods(handlers, (work, call) => {
    const end = meters.work.startTimer({ work });
    meters.busy.inc({ work });
    const result = call();
    return Promise.resolve(result).finally(() => {
      meters.busy.dec({ work });
      end();
    });
  });
}

export function meterRetries(meters: Meters): RecordRetry {
  return (queue, cause) => meters.retries.inc({ queue, cause });
}
