import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

/**
 * Serves an attacker's page. `sameSite` has the console's host but another port, so browsers send the console's cookies
 * with its requests. `crossSite` is the same server under another host name.
 */
export async function serveOtherSite(html: string): Promise<{ readonly sameSite: string; readonly crossSite: string }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the other site has no port');
  return { sameSite: `http://127.0.0.1:${address.port}/`, crossSite: `http://localhost:${address.port}/` };
}
