import { Failure } from '../domain/failure.ts';
import type { Limits } from '../domain/limits.ts';
import type { FileClaim, FileStore } from '../ports/file-store.ts';
import type { Log } from '../ports/log.ts';
import type { Warehouse } from '../ports/warehouse.ts';

type Deps = {
  readonly files: FileStore;
  readonly warehouse: Warehouse;
  readonly limits: Limits;
  readonly log: Log;
};

const lookEvery = 1_000;

/**
 * Looks at a running load about once a second: notes how far it is, for the partner's progress, and stops it when it
 * unpacks to more bytes than a file may have. A look that fails is left out; the load goes on.
 */
export async function watchLoad(
  deps: Deps,
  claim: FileClaim,
  bytesRead: () => number,
  load: (stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const state: { tooLarge: Failure | null; looking: Promise<void> | null } = { tooLarge: null, looking: null };
  const look = async (): Promise<void> => {
    const read = await deps.warehouse.readSoFar(claim.load);
    await deps.files.noteProgress(claim, { bytes: bytesRead(), rows: read.rows });
    // A line has at least one byte, so this many lines are too large too: blank ones are in no count of bytes.
    if (Math.max(read.bytes, read.rowsHandled) > deps.limits.maxPlainFileBytes) {
      state.tooLarge = new Failure(
        'unpacked_too_large',
        `The file unpacks to more than ${deps.limits.maxPlainFileBytes} bytes.`,
      );
      stop.abort();
    }
  };
  const timer = setInterval(() => {
    state.looking ??= look()
      .catch((error: unknown) => deps.log.warn({ err: error }, 'a look at a load failed'))
      .finally(() => {
        state.looking = null;
      });
  }, lookEvery);
  try {
    await load(stop.signal);
  } catch (error) {
    throw state.tooLarge ?? error;
  } finally {
    clearInterval(timer);
    await state.looking;
  }
}
