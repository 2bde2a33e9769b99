import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { stackDirectory } from './paths.ts';
import { say } from './say.ts';

const patienceMs = 180_000;

// A socket in Linux's abstract namespace: only one process can listen on it, and the kernel drops it when that process
// ends, however it ends. So unlike a lock file it never goes stale.
function tryToListen(): Promise<Server | undefined> {
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
  const deadline = performance.now() + patienceMs;
  let told = false;
  for (;;) {
    const server = await tryToListen();
    if (server !== undefined) return server;
    if (performance.now() > deadline) throw new Error('Another stack:up or stack:down of this clone does not end.');
    if (!told) say('waiting for another stack:up or stack:down of this clone');
    told = true;
    await sleep(200);
  }
}

/** Two commands that start or stop the same servers take turns. */
export async function withLock<Result>(work: () => Promise<Result>): Promise<Result> {
  const server = await waitForLock();
  try {
    return await work();
  } finally {
    server.close();
  }
}
