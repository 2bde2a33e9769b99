import { connect, type Socket } from 'node:net';
import { secondsOf } from './bench.ts';

export type HttpLoad = {
  readonly url: string;
  /** As it goes over the wire. */
  readonly request: string;
  readonly connections: number;
  readonly requests: number;
  /** That every answer must have. */
  readonly status: number;
};

export type HttpFigures = { readonly seconds: number; readonly p50: number; readonly p99: number };

/**
 * Sends the same request so many times over so many connections, the next one on each when the last is answered. By hand,
 * because this process shares the machine with what it measures: it must cost as little as it can.
 */
export async function sendLoad(load: HttpLoad): Promise<HttpFigures> {
  const latencies: number[] = [];
  let toSend = load.requests;
  const takeOne = (): boolean => {
    toSend -= 1;
    return toSend >= 0;
  };
  const seconds = await secondsOf(() =>
    Promise.all(Array.from({ length: load.connections }, () => sendOnOne(load, takeOne, latencies))),
  );
  const inOrder = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number => inOrder[Math.ceil(inOrder.length * share) - 1] ?? 0;
  return { seconds, p50: at(0.5), p99: at(0.99) };
}

function sendOnOne(load: HttpLoad, takeOne: () => boolean, latencies: number[]): Promise<void> {
  const { hostname, port } = new URL(load.url);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), hostname);
    let sentAt = 0;
    let answer = '';
    const next = (): void => {
      if (!takeOne()) {
        socket.destroy();
        resolve();
        return;
      }
      answer = '';
      sentAt = performance.now();
      socket.write(load.request);
    };
    socket.setEncoding('latin1');
    socket.on('connect', next);
    socket.on('error', reject);
    socket.on('end', () => reject(new Error('the connection was closed')));
    socket.on('data', (part: string) => {
      answer += part;
      if (!isWhole(answer)) return;
      if (!answer.startsWith(`HTTP/1.1 ${load.status} `)) {
        socket.destroy();
        reject(new Error(`not ${load.status}: ${answer.slice(0, 500)}`));
        return;
      }
      latencies.push(performance.now() - sentAt);
      next();
    });
  });
}

function isWhole(answer: string): boolean {
  const head = answer.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, head))?.[1];
  if (length === undefined) throw new Error('an answer without its length');
  return answer.length >= head + 4 + Number(length);
}
