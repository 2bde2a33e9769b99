export type Environment = Readonly<Record<string, string>>;

/** The variables that are set; an empty one is as good as missing. */
export function readEnvironment(): Environment {
  // oxlint-disable-next-line node/no-process-env -- the only place of this package that reads the environment
  const given = Object.entries(process.env).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(given.map(([name, value]) => [name, value ?? '']));
}
