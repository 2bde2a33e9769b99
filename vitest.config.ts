import { defineConfig } from 'vitest/config';

/** They measure times, or kill the servers that all use. */
const alone = ['test/fault/{takeover,real-servers}.test.ts'];

// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default defineConfig(({ mode }) => ({
  test: {
    provide: { campaign: mode === 'long' ? 'long' : 'short' },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{src,scripts}/**/*.test.ts', 'packages/*/src/**/*.test.ts', 'test/{hostile,chaos}/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'servers',
          include: ['test/{contracts,integration,acceptance}/**/*.test.ts'],
          // One module context per worker process: suites share a running api and worker, and modules load once.
          isolate: false,
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 180_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          // The pages of docs/, followed word for word in an empty folder.
          name: 'pages',
          include: ['test/pages/**/*.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 1_800_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          // Time and processor time are measured here: one at a time.
          name: 'measured',
          include: ['test/measured/**/*.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 180_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'fault',
          include: ['test/fault/**/*.test.ts'],
          exclude: alone,
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 300_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
          provide: { mostFailpoints: 12 },
        },
      },
      {
        test: {
          name: 'fault-alone',
          include: alone,
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 300_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
          provide: { kills: 20 },
        },
      },
      {
        test: {
          name: 'fault-all',
          include: ['test/fault/{failpoints,takeover}.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 900_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
          provide: { mostFailpoints: 1_000, kills: 50 },
        },
      },
      {
        test: {
          name: 'planted',
          include: ['test/planted/**/*.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 180_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          // What deploy/image/build-here.sh has built; needs the servers and podman.
          name: 'image',
          include: ['test/image/**/*.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 180_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
      {
        test: { name: 'gates', include: ['test/gates/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
      },
    ],
  },
}));

declare module 'vitest' {
  export interface ProvidedContext {
    /** `short` in the gate; `long` under `vitest run --mode long`, which `npm run test:long` uses. */
    campaign: 'short' | 'long';
    /** At how many of the points between two effects a worker is killed: some minutes of CI, or all. */
    mostFailpoints: number;
    /** How often a worker is killed to see how soon another goes on. */
    kills: number;
  }
}
