import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Api } from '../api.ts';

/** Allows only resources from this server and no inline scripts. The page therefore works offline. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Inlet API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="reference"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const start = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null });
`;

type Content = { readonly type: string; readonly read: () => Buffer };

const contents: Readonly<Record<string, Content>> = {
  '/docs': { type: 'text/html; charset=utf-8', read: () => Buffer.from(page) },
  '/docs/start.js': { type: 'text/javascript; charset=utf-8', read: () => Buffer.from(start) },
  '/docs/swagger-ui.css': {
    type: 'text/css; charset=utf-8',
    read: () => bytesOf(import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
  },
  '/docs/swagger-ui-bundle.js': {
    type: 'text/javascript; charset=utf-8',
    read: () => bytesOf(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  },
  '/openapi.json': {
    type: 'application/json; charset=utf-8',
    read: () => bytesOf(import.meta.resolve('@inlet/contract/openapi.json')),
  },
};

/**
 * Serves the OpenAPI document and the API reference. They are public and require no API key. Each file is read once,
 * and all responses share its bytes, so that slow clients use no additional memory.
 */
export function addReference(api: Api): void {
  const config = { operation: 'reference' };
  // The redirect is relative, so that it works behind a proxy that adds a path prefix.
  api.get('/', { config }, async (_request, reply) => reply.redirect('docs'));
  for (const [path, { type, read }] of Object.entries(contents)) {
    const bytes = read();
    api.get(path, { config }, async (_request, reply) => {
      reply
        .header('content-type', type)
        .header('content-security-policy', policy)
        .header('x-content-type-options', 'nosniff')
        .header('referrer-policy', 'no-referrer')
        .header('cache-control', 'public, max-age=300');
      return bytes;
    });
  }
}

function bytesOf(url: string): Buffer {
  return readFileSync(fileURLToPath(url));
}
