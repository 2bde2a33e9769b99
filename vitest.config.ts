import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that measure times, or kill the servers that every test uses. */
const alone = ['test/fault/{takeover,real-servers}.test.ts'];

/** The slowest files, which start first. Otherwise, one of them would run alone at the end. */
const slowest = [
  'cli',
  'corpus',
  'cli-upload',
  'audience-property',
  'corpus-by-prefix',
  'issued-tokens',
  'migrations',
  'planted-bugs',
  'chaos',
  'failpoints',
  'backup',
  'unavailable-dependencies',
  'lanes',
  'row-security-filters',
  'subscriptions',
  'device-retention',
  'operation-credentials',
  'suppression-attack',
  'accessibility',
  'hostile-texts',
];

/** Tests that load, count, delete, or erase rows. */
const onReplicas = [
  'test/contracts/{warehouse,audience-warehouse}.test.ts',
  'test/integration/{warehouse-property,known-devices,publish-audience,load-batch,purge,device-index,erasure}.test.ts',
  'test/acceptance/{marketplace-import,marketplace-delete,audience,audience-append,audience-clear,composition}.test.ts',
  'test/privacy/canary.test.ts',
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number =>
      slowest.some((name) => moduleId.endsWith(`/${name}.test.ts`)) ? 0 : 1;
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the sequencer
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

// oxlint-disable-next-line import/no-default-export -- vitest requires it
export default defineConfig(({ mode }) => ({
  test: {
    sequence: { sequencer: SlowestFirst },
    provide: { campaign: mode === 'long' ? 'long' : 'short' },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{src,scripts}/**/*.test.ts', 'packages/*/src/**/*.test.ts', 'test/{hostile,chaos}/**/*.test.ts'],
          setupFiles: 'test/support/fast-check-seed.ts',
          // One process loads the modules once for all files: 40 s of processor time instead of 74.
          isolate: false,
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
          maxWorkers: 3,
        },
      },
      {
        test: {
          // Follows the pages of docs/ in an empty folder: every command, and every result shown.
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
          // These tests measure time and processor time, so they run one at a time.
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
          include: ['test/{fault,planted}/**/*.test.ts'],
          exclude: alone,
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 900_000,
          hookTimeout: 600_000,
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'fault-alone',
          include: alone,
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 900_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          // Misconfigures installations. The gate runs a few cases, and `npm run test:misconfigured` runs all of them.
          name: 'misconfigured',
          include: ['test/misconfigured/**/*.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 300_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          // Erases devices, and searches every file of every server for them.
          name: 'privacy',
          include: ['test/privacy/**/*.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 300_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          // Drives Chromium against the console of one running service, which the global setup starts.
          name: 'console',
          include: ['test/console/**/*.test.ts'],
          isolate: false,
          globalSetup: ['test/support/global-setup.ts', 'test/console/support/global-setup.ts'],
          // As long as Playwright waits for an element.
          expect: { poll: { timeout: 30_000 } },
          testTimeout: 120_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          // Starts its own servers, with two replicas of each shard and ZooKeeper.
          name: 'replicated',
          include: ['test/replicated/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          // Runs tests of the data plane on shards with two replicas. The servers must have been started with `--replicas 2`.
          name: 'replicated-suites',
          include: onReplicas,
          env: { INLET_TEST_REPLICAS: '2' },
          isolate: false,
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 180_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          // Tests the image that deploy/image/build-here.sh builds. Needs the servers and podman.
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
  }
}
