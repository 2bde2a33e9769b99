import { type IncomingMessage, createServer, request as httpRequest } from 'node:http';

/** `swallow` forwards the request and drops the response. `gone` responds as if the upload did not exist. */
export type ProxyFault = 'pass' | 'damage' | 'swallow' | 'unavailable' | 'gone';

/** Forwards requests to a server. The test chooses a fault for each request. */
export async function startFaultyProxy(
  target: string,
  decide: (request: IncomingMessage, count: number) => ProxyFault,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const { hostname, port } = new URL(target);
  let count = 0;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      count += 1;
      const fault = decide(incoming, count);
      if (fault === 'unavailable') {
        response.writeHead(503, { 'retry-after': '0' }).end('<Error><Code>SlowDown</Code></Error>');
        return;
      }
      if (fault === 'gone') {
        response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
        return;
      }
      const body = Buffer.concat(chunks);
      if (fault === 'damage') body.writeUInt8(body.readUInt8(0) ^ 1, 0);
      const { method, url: path, headers } = incoming;
      const outgoing = httpRequest({ hostname, port, method, path, headers }, (answer) => {
        if (fault === 'swallow') {
          answer.resume().on('end', () => response.destroy());
          return;
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      outgoing.on('error', () => response.destroy());
      outgoing.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
