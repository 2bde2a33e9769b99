import { defineConfig } from 'vite';

/** The API that the development server forwards to: the one that `npm run dev` starts. */
const api = 'http://127.0.0.1:8080';

// oxlint-disable-next-line import/no-default-export -- vite requires it
export default defineConfig({
  base: '/console/',
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
  server: { host: '127.0.0.1', proxy: { '/v1': api, '/v2': api, '/console/auth': api } },
});
