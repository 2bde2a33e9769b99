import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Ports are below the ephemeral port range, so that no outgoing connection uses a server's port while the server is
// down. They are random, so that two clones that start at the same time do not choose the same ports.
const lowest = 20_000;
const highest = 32_000;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => {
      resolve(false);
    });
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      probe.close(() => {
        resolve(true);
      });
    });
  });
}

export async function pickPort(excluded: readonly number[]): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (!excluded.includes(port) && (await isFree(port))) return port;
  }
  throw new Error(`No free port between ${String(lowest)} and ${String(highest)} on 127.0.0.1.`);
}

/** Keeps the previous port unless another process uses it. */
export async function keepOrPickPort(port: number, excluded: readonly number[]): Promise<number> {
  return (await isFree(port)) ? port : pickPort(excluded);
}
