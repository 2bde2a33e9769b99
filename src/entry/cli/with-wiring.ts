import type { wireCli } from '../wire-cli.ts';

type CliDeps = Awaited<ReturnType<typeof wireCli>>;

/**
 * Connects to the servers for the duration of one command. The server clients are imported lazily, because importing
 * them takes a second of CPU time. `--help` and the partner commands do not need them.
 */
export async function withWiring<T>(run: (deps: CliDeps) => Promise<T>): Promise<T> {
  const [{ readConfig }, { createLogger }, { wireCli }] = await Promise.all([
    import('../config.ts'),
    import('../logging.ts'),
    import('../wire-cli.ts'),
  ]);
  const deps = await wireCli(readConfig(), createLogger({ name: 'inlet-cli', level: 'error' }));
  try {
    return await run(deps);
  } finally {
    await deps.close();
  }
}
