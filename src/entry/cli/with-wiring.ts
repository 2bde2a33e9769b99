import { hostname, userInfo } from 'node:os';
import type { Config } from '../config.ts';
import type { wire } from '../wiring.ts';

type Wiring = Awaited<ReturnType<typeof wire>> & { readonly config: Config };

/**
 * Connects for the time of one command. The clients of all servers are loaded here and not before: they take a second of
 * the processor, which `--help` and the commands of partners do not need.
 */
export async function withWiring<T>(run: (deps: Wiring) => Promise<T>): Promise<T> {
  const [{ readConfig }, { createLogger }, { wire }] = await Promise.all([
    import('../config.ts'),
    import('../logging.ts'),
    import('../wiring.ts'),
  ]);
  const config = readConfig();
  const deps = await wire(
    // A command is over before anybody could look at it.
    { ...config, INLET_METRICS_PORT: undefined, INLET_OTLP_URL: undefined },
    { name: 'inlet-cli', boss: 'send', actor: operator() },
    createLogger({ name: 'inlet-cli', level: 'error' }),
  );
  try {
    return await run({ ...deps, config });
  } finally {
    await deps.close();
  }
}

/** For the audit log: as far as this machine knows. */
function operator(): string {
  return `${nameOfUser()}@${hostname()}`;
}

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a number that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
