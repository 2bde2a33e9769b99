import type { CheckedFile } from './check-file.ts';
import type { CheckRequest } from './check-worker.ts';

type Message = { readonly bytes: number } | { readonly checked: CheckedFile | null };

/** Checks files in one web worker, one at a time. */
export class Checker {
  #worker: Worker | null = null;

  /**
   * Returns null if the file cannot be read, for example because it changed on the disk, or if the check is stopped.
   */
  check(request: CheckRequest, onBytes: (bytes: number) => void, signal: AbortSignal): Promise<CheckedFile | null> {
    this.#worker ??= new Worker(new URL('./check-worker.ts', import.meta.url), { type: 'module' });
    const worker = this.#worker;
    return new Promise((resolve) => {
      const listening = new AbortController();
      const end = (checked: CheckedFile | null): void => {
        listening.abort();
        resolve(checked);
      };
      const stop = (): void => {
        this.close();
        end(null);
      };
      signal.addEventListener('abort', stop, { signal: listening.signal });
      worker.addEventListener('error', stop, { signal: listening.signal });
      worker.addEventListener(
        'message',
        ({ data }: MessageEvent<Message>) => {
          if ('bytes' in data) onBytes(data.bytes);
          else end(data.checked);
        },
        { signal: listening.signal },
      );
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin to name
      worker.postMessage(request);
    });
  }

  close(): void {
    this.#worker?.terminate();
    this.#worker = null;
  }
}
