import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { stackDirectory } from './paths.ts';
import { printLine } from './output.ts';

const timeoutMs = 180_000;

// A socket in Linux's abstract namespace: only one process can listen on it, and the kernel removes it when that
// process exits for any reason. Unlike a lock file, it never becomes stale.
function tryLock(): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => {
      connection.destroy();
    });
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(`\0inlet-stack:${stackDirectory}`, () => {
      resolve(server);
    });
  });
}

async function waitForLock(): Promise<Server> {
  const deadline = performance.now() + timeoutMs;
  let isReported = false;
  for (;;) {
    const server = await tryLock();
    if (server !== undefined) return server;
    if (performance.now() > deadline)
      throw new Error(
        'Timed out waiting for another stack:up or stack:down in this clone. Try again when it has finished.',
      );
    if (!isReported) printLine('Waiting for another stack:up or stack:down in this clone …');
    isReported = true;
    await sleep(200);
  }
}

/** Serializes commands that start or stop the same servers. */
export async function withLock<Result>(work: () => Promise<Result>): Promise<Result> {
  const server = await waitForLock();
  try {
    return await work();
  } finally {
    server.close();
  }
}
