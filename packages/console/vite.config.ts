import { type Plugin, defineConfig } from 'vite';

/** The API that the development server forwards to: the one that `npm run dev` starts. */
const api = 'http://127.0.0.1:8080';

/**
 * The modules that all pages use, and those that the report shares with other pages. The browser loads them together
 * with the first script.
 */
const usedByReport =
  /node_modules|packages\/sdk|console\/src\/[^/]+\.ts$|components\/(?:page|state|page-not-loaded|budget|limit-notice|audience-picker|visible-text)\.tsx?$/;

/**
 * Requests the report's script together with the first script, instead of after it has run. A report is the first page
 * that most readers open. The others get 9 kB that they may need later.
 */
const preloadReport: Plugin = {
  name: 'preload-report',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle }) => {
      // The development server has no bundle.
      if (!bundle) return [];
      const report = Object.values(bundle).find(({ name }) => name === 'composition-page');
      if (!report) throw new Error('The build has no script for the report.');
      const attrs = { rel: 'modulepreload', crossorigin: '', href: `/console/${report.fileName}` };
      return [{ tag: 'link', injectTo: 'head', attrs }];
    },
  },
};

// oxlint-disable-next-line import/no-default-export -- vite requires it
export default defineConfig({
  base: '/console/',
  plugins: [preloadReport],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    // One style sheet of 5 kB for all pages, and no preload code, so that a page's script is requested immediately. The
    // code that Vite adds for them takes about 100 ms on a slow processor.
    cssCodeSplit: false,
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_url, scripts, { hostType }) => (hostType === 'html' ? scripts : []),
    },
    rolldownOptions: {
      output: {
        // Chromium then compiles all functions on another thread, instead of each one when it is first called.
        postBanner: ({ name }) =>
          /^(?:base|index|composition-page)$/.test(name) ? '//# allFunctionsCalledOnLoad' : '',
        // A few scripts compress better than one script per page, and need fewer requests. A module that several groups
        // match is assigned to the first of them.
        codeSplitting: {
          groups: [
            { name: 'base', test: usedByReport, priority: 3 },
            { name: 'components', test: /console\/src\/(?:components\/|access\/form-dialog)/, priority: 2 },
            { name: 'operator', test: /console\/src\/operator\//, priority: 1 },
            { name: 'webhooks', test: /console\/src\/webhooks\//, priority: 1 },
          ],
        },
      },
    },
    reportCompressedSize: false,
  },
  server: { host: '127.0.0.1', proxy: { '/v1': api, '/v2': api, '/console/auth': api } },
});
