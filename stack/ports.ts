import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range that the kernel gives to outgoing connections, so that none of these takes a port while its server is
// down. Random, so that two clones which start at the same time do not go for the same ones.
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

export async function pickPort(notThese: readonly number[]): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (!notThese.includes(port) && (await isFree(port))) return port;
  }
  throw new Error(`No free port found between ${String(lowest)} and ${String(highest)} on 127.0.0.1.`);
}

/** The port the server had before, unless somebody else took it in the meantime. */
export async function keepOrPickPort(port: number, notThese: readonly number[]): Promise<number> {
  return (await isFree(port)) ? port : pickPort(notThese);
}
