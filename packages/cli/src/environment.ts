import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

export type Environment = Readonly<Record<string, string>>;

/** The variables that are set; an empty one is as good as missing. */
export function readEnvironment(): Environment {
  // oxlint-disable-next-line node/no-process-env -- the only place of this package that reads the environment
  const given = Object.entries(process.env).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(given.map(([name, value]) => [name, value ?? '']));
}

const underHome = { XDG_CONFIG_HOME: '.config', XDG_STATE_HOME: join('.local', 'state') } as const;

/** Where the XDG rules put what a program keeps; a relative path in the variable is to be ignored. */
export function xdgFolder(environment: Environment, variable: keyof typeof underHome): string {
  const given = environment[variable];
  return join(given !== undefined && isAbsolute(given) ? given : join(homedir(), underHome[variable]), 'inlet');
}
