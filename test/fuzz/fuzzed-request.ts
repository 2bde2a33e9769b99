import { Agent, request as send } from 'node:http';
import type { Answer } from '../support/openapi/check-answer.ts';

export type FuzzedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
};

/** Sends requests unchanged on keep-alive connections. Does not use fetch, which normalizes requests. */
export function fuzzClient(url: string): {
  readonly ask: (request: FuzzedRequest) => Promise<Answer>;
  readonly close: () => void;
} {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true });
  return {
    ask: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        // Node sends the body of a GET request without its length, so the server would parse the body as the next
        // request.
        const length = body ? { 'content-length': String(body.length) } : {};
        const options = { agent, hostname, port, method, path, headers: { ...headers, ...length }, timeout: 30_000 };
        const outgoing = send(options, (incoming) => {
          const parts: Buffer[] = [];
          const end = (): void => {
            const answered = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
              name,
              String(value),
            ]);
            const text = Buffer.concat(parts).toString();
            resolve({ status: incoming.statusCode ?? 0, headers: new Headers(answered), text });
          };
          const isStream = incoming.headers['content-type']?.startsWith('text/event-stream') === true;
          incoming.on('data', (part: Buffer) => {
            parts.push(part);
            if (!isStream) return;
            // Reads only the first bytes, because the stream can last for minutes.
            end();
            incoming.destroy();
          });
          incoming.on('error', reject);
          incoming.on('end', end);
        });
        outgoing.on('timeout', () => outgoing.destroy(new Error('no response within 30 s')));
        outgoing.on('error', reject);
        outgoing.end(body ?? undefined);
      }),
    close: () => agent.destroy(),
  };
}
