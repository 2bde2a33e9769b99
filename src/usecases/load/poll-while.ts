import { unpackedTooLarge } from '@inlet/row-rule/file-rule';
import type { Failure } from '../../domain/failure.ts';
import { failureOf } from '../../domain/file-failure.ts';
import type { Limits } from '../../domain/limits.ts';
import type { BatchClaim, FileStore, LoadStage } from '../../ports/load-stage.ts';
import type { Log } from '../../ports/observability.ts';

/** Twice a second: what nobody wants any more is stopped well within two. */
const lookEvery = 500;

/** Looks again and again while something runs, one look at a time. A look that fails is left out; the other goes on. */
export async function pollWhile<T>(log: Log, look: () => Promise<void>, run: () => Promise<T>): Promise<T> {
  const state: { looking: Promise<void> | null } = { looking: null };
  const timer = setInterval(() => {
    state.looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, 'a look at running work failed'))
      .finally(() => {
        state.looking = null;
      });
  }, lookEvery);
  try {
    return await run();
  } finally {
    clearInterval(timer);
    await state.looking;
  }
}

type Deps = {
  readonly files: FileStore;
  readonly stage: LoadStage;
  readonly limits: Limits;
  readonly log: Log;
};

/**
 * Looks at a running load twice a second: notes how far it is, for the partner's progress, and stops it when it is no
 * longer wanted (its job was cancelled, another attempt has it) or unpacks to more bytes than a file may have. A look
 * that fails is left out; the load goes on. Of a batch of small files (`bytesRead` null) only the first is asked.
 */
export async function watchLoad(
  deps: Deps,
  claim: BatchClaim,
  bytesRead: (() => number) | null,
  load: (stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const state: { tooLarge: Failure | null } = { tooLarge: null };
  const look = async (): Promise<void> => {
    const read = bytesRead && { bytes: bytesRead(), engine: await deps.stage.readSoFar(claim.load) };
    const isOurs = await deps.files.noteProgress(claim, read && { bytes: read.bytes, rows: read.engine.rows });
    if (!isOurs) return stop.abort();
    // A line has at least one byte, so this many lines are too large too: blank ones are in no count of bytes.
    if (read && Math.max(read.engine.bytes, read.engine.rowsHandled) > deps.limits.maxPlainFileBytes) {
      state.tooLarge = failureOf(unpackedTooLarge(deps.limits));
      stop.abort();
    }
  };
  try {
    await pollWhile(deps.log, look, () => load(stop.signal));
  } catch (error) {
    throw state.tooLarge ?? error;
  }
}
