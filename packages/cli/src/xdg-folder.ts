import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from './environment.ts';

const underHome = { XDG_CONFIG_HOME: '.config', XDG_STATE_HOME: join('.local', 'state') } as const;

/** Where the XDG rules put what a program keeps; a relative path in the variable is to be ignored. */
export function xdgFolder(environment: Environment, variable: keyof typeof underHome): string {
  const given = environment[variable];
  return join(given !== undefined && isAbsolute(given) ? given : join(homedir(), underHome[variable]), 'inlet');
}
