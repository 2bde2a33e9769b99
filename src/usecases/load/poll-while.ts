import { unpackedTooLarge } from '@inlet/row-rule/file-rule';
import type { Failure } from '../../domain/failure.ts';
import { failureOf } from '../../domain/file-failure.ts';
import type { Limits } from '../../domain/limits.ts';
import type { BatchClaim, FileStore, LoadStage } from '../../ports/load-stage.ts';
import type { Log } from '../../ports/observability.ts';

/** Short enough that canceled work stops within two seconds. */
const pollEveryMs = 500;

/** Polls while `run` runs, one poll at a time. A poll that fails is logged and skipped. */
export async function pollWhile<T>(log: Log, poll: () => Promise<void>, run: () => Promise<T>): Promise<T> {
  const state: { polling: Promise<void> | null } = { polling: null };
  const timer = setInterval(() => {
    state.polling ??= poll()
      .catch((error: unknown) => log.warn({ err: error }, 'cannot poll running work'))
      .finally(() => {
        state.polling = null;
      });
  }, pollEveryMs);
  try {
    return await run();
  } finally {
    clearInterval(timer);
    await state.polling;
  }
}

type Deps = {
  readonly files: FileStore;
  readonly stage: LoadStage;
  readonly limits: Limits;
  readonly log: Log;
};

/**
 * Records the progress of a running load, and stops the load when its job is canceled, when another attempt has claimed
 * it, or when it decompresses to more bytes than the limit per file. A batch of small files (`bytesRead` null) reports
 * no progress and cannot exceed the limit.
 */
export async function watchLoad(
  deps: Deps,
  claim: BatchClaim,
  bytesRead: (() => number) | null,
  load: (stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const state: { tooLarge: Failure | null } = { tooLarge: null };
  const poll = async (): Promise<void> => {
    const read = bytesRead && { bytes: bytesRead(), engine: await deps.stage.readSoFar(claim.load) };
    const isOurs = await deps.files.recordProgress(claim, read && { bytes: read.bytes, rows: read.engine.rows });
    if (!isOurs) return stop.abort();
    // The byte count excludes blank lines. Each line has at least one byte, so the number of lines is another estimate
    // of the size.
    if (read && Math.max(read.engine.bytes, read.engine.rowsHandled) > deps.limits.maxPlainFileBytes) {
      state.tooLarge = failureOf(unpackedTooLarge(deps.limits));
      stop.abort();
    }
  };
  try {
    await pollWhile(deps.log, poll, () => load(stop.signal));
  } catch (error) {
    throw state.tooLarge ?? error;
  }
}
