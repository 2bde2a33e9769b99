import { randomInt } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type ScriptedServer = {
  readonly url: string;
  /** All requests so far, in order of arrival. */
  readonly seen: readonly SeenRequest[];
  readonly close: () => Promise<void>;
};

/** A real HTTP server with scripted responses, which can be faulty. */
export async function startScriptedServer(
  answer: (response: ServerResponse, request: SeenRequest, count: number) => void,
): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => {});
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      seen.push(request);
      answer(response, request, seen.length);
    });
  });
  const host = loopbackAddress();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://${host}:${address.port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * The system reuses ports. Because this server has its own address, it never gets a retry that another test or another
 * test run still sends to a server that has ended.
 */
function loopbackAddress(): string {
  return `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function sendProblem(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const problem = {
    type: `urn:inlet:error:${code}`,
    title: 'A title',
    status,
    detail: 'A detail.',
    instance: '/here',
    code,
    request_id: 'request-1',
  };
  sendJson(response, status, problem, { 'content-type': 'application/problem+json', ...headers });
}
