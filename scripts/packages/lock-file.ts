import { z } from 'zod';

const specs = z.record(z.string(), z.string()).optional();
const entrySchema = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  license: z.string().optional().catch(undefined),
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  link: z.boolean().optional(),
  dev: z.boolean().optional(),
  optional: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
  os: z.array(z.string()).optional(),
  cpu: z.array(z.string()).optional(),
  dependencies: specs,
  devDependencies: specs,
  optionalDependencies: specs,
  peerDependencies: specs,
});
const lockSchema = z.object({ lockfileVersion: z.literal(3), packages: z.record(z.string(), entrySchema) });

export type LockedPackage = z.infer<typeof entrySchema> & {
  /** Installation path: `node_modules/…`, the folder of a workspace package, or an empty string for the root. */
  readonly path: string;
  readonly name: string;
};

export function parseLockFile(text: string): LockedPackage[] {
  const { packages } = lockSchema.parse(JSON.parse(text));
  return Object.entries(packages).map(([path, entry]) => ({
    ...entry,
    path,
    name: entry.name ?? path.replace(/^.*node_modules\//, ''),
  }));
}

/**
 * Returns the packages of a deployed service. Links and packages that only development needs (`dev`) are excluded.
 * Workspace packages are included only if the service depends on them, directly or transitively.
 */
export function productionPackages(packages: readonly LockedPackage[]): LockedPackage[] {
  const ours = packages.filter(isOurs);
  const needed = new Set(ours.filter(({ path }) => path === ''));
  // The loop also visits packages that are added during the iteration.
  for (const { dependencies = {} } of needed) {
    for (const one of ours) if (Object.hasOwn(dependencies, one.name)) needed.add(one);
  }
  return packages.filter((one) => one.path !== '' && !one.dev && !one.link && (!isOurs(one) || needed.has(one)));
}

export function isOurs({ path }: LockedPackage): boolean {
  return !path.startsWith('node_modules/');
}
