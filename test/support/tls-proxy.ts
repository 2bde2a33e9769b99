import { readFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { createServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { KeyPair } from './certificate-authority.ts';

export type TlsProxy = {
  readonly port: number;
  /** The common names of the client certificates that were accepted. */
  readonly clients: Set<string>;
  readonly close: () => void;
};

/**
 * Serves a ClickHouse server over HTTPS. With `clientCa`, it requires a client certificate, and the certificate replaces
 * the password, as on a ClickHouse server with users that are identified by their certificate.
 */
export async function startTlsProxy(target: URL, pair: KeyPair, clientCa?: string): Promise<TlsProxy> {
  const clients = new Set<string>();
  const server = createServer(
    {
      cert: readFileSync(pair.cert),
      key: readFileSync(pair.key),
      ...(clientCa === undefined ? {} : { ca: readFileSync(clientCa), requestCert: true, rejectUnauthorized: true }),
    },
    (request, response) => {
      const { 'x-clickhouse-ssl-certificate-auth': byCertificate, ...headers } = request.headers;
      if (byCertificate === 'on' && request.socket instanceof TLSSocket) {
        clients.add(String(request.socket.getPeerCertificate().subject.CN));
        headers['x-clickhouse-key'] = decodeURIComponent(target.password);
      }
      const { method, url: path } = request;
      const passed = send({ hostname: target.hostname, port: target.port, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      request.pipe(passed);
    },
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    port: address.port,
    clients,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
