import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

export type Environment = Readonly<Record<string, string>>;

/** Returns the variables that are set. An empty variable is treated as unset. */
export function readEnvironment(): Environment {
  // oxlint-disable-next-line node/no-process-env -- the only code in this package that reads the environment
  const given = Object.entries(process.env).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(given.map(([name, value]) => [name, value ?? '']));
}

const underHome = { XDG_CONFIG_HOME: '.config', XDG_STATE_HOME: join('.local', 'state') } as const;

/**
 * Returns the folder for `inlet` under the XDG base directory. Ignores relative paths, as the specification requires.
 */
export function xdgFolder(environment: Environment, variable: keyof typeof underHome): string {
  const given = environment[variable];
  return join(given !== undefined && isAbsolute(given) ? given : join(homedir(), underHome[variable]), 'inlet');
}
