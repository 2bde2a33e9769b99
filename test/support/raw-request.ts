import { connect } from 'node:net';
import type { Answer } from './openapi/check-answer.ts';

/** Sends bytes unchanged, including requests that no client would send, and reads one complete response. */
export function sendRaw(url: string, bytes: string | Uint8Array): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(10_000, () => socket.destroy(new Error('no response')));
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(parseAnswer(text)));
    // Keeps the connection open, because a server can respond before it has received the whole request.
    socket.write(bytes);
  });
}

function parseAnswer(text: string): Answer {
  const [head = '', ...body] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(first.split(' ')[1]), headers, text: body.join('\r\n\r\n') };
}

export type SlowAnswer = { readonly text: string; readonly seconds: number };

/** Sends a first part immediately and then one byte at a time until the server closes the connection. */
export function sendSlowly(url: string, beginning: string, everyMilliseconds = 50): Promise<SlowAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const start = performance.now();
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      text += part;
    });
    // If a byte arrives after the close, the server responds with a reset.
    socket.on('error', () => undefined);
    socket.write(beginning);
    const drip = setInterval(() => void (beginning !== '' && socket.writable && socket.write('x')), everyMilliseconds);
    socket.on('close', () => {
      clearInterval(drip);
      resolve({ text, seconds: (performance.now() - start) / 1000 });
    });
  });
}
