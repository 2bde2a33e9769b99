import { z } from 'zod';
import { productionPackages, type LockedPackage } from './lock-file.ts';

const componentSchema = z.looseObject({
  'bom-ref': z.string(),
  name: z.string(),
  properties: z.array(z.looseObject({ name: z.string() })).optional(),
});
const bomSchema = z.looseObject({
  metadata: z.looseObject({ component: componentSchema }),
  components: z.array(componentSchema),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
type Component = z.infer<typeof componentSchema>;
export type Bom = z.infer<typeof bomSchema>;

const onlyDevelopment = 'cdx:npm:package:development';

/**
 * What `npm sbom` says of all packages, without those of development. Its own `--omit dev` leaves out every package that
 * development needs too, zod and pg-protocol among them: https://github.com/npm/cli/issues/7909.
 */
export function productionBom(bomOfAll: unknown, packages: readonly LockedPackage[]): Bom {
  const bom = bomSchema.parse(bomOfAll);
  const wanted = new Set(productionPackages(packages).map(({ name, version }) => `${name}@${version}`));
  // npm 10 lists a package twice that is installed twice.
  const byRef = new Map(bom.components.map((component) => [component['bom-ref'], component]));
  const components = [...byRef.values()].filter((component) => wanted.has(component['bom-ref'])).map(corrected);
  const missing = wanted.difference(new Set(components.map((component) => component['bom-ref'])));
  if (missing.size > 0) throw new Error(`npm did not name ${[...missing].join(', ')}`);
  const root = corrected(bom.metadata.component);
  const listed = new Set([...wanted, root['bom-ref']]);
  const dependencies = [...new Map(bom.dependencies.map((dependency) => [dependency.ref, dependency])).values()]
    .filter(({ ref }) => listed.has(ref))
    .map((dependency) => ({ ...dependency, dependsOn: dependency.dependsOn.filter((ref) => listed.has(ref)) }));
  return { ...bom, metadata: { ...bom.metadata, component: root }, components, dependencies };
}

/** npm names a package of our own by its folder, and marks one that stands twice like the first it meets. */
function corrected(component: Component): Component {
  return {
    ...component,
    name: component['bom-ref'].replace(/@[^@]*$/, ''),
    properties: component.properties?.filter(({ name }) => name !== onlyDevelopment) ?? [],
  };
}
