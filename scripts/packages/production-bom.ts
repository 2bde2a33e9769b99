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
 * Filters the output of `npm sbom` to production packages. Its own `--omit dev` also omits packages that both production
 * and development need, such as zod and pg-protocol: https://github.com/npm/cli/issues/7909.
 */
export function productionBom(fullBom: unknown, packages: readonly LockedPackage[]): Bom {
  const bom = bomSchema.parse(fullBom);
  const expected = new Set(productionPackages(packages).map(({ name, version }) => `${name}@${version}`));
  // npm 10 lists a package twice if it is installed twice.
  const byRef = new Map(bom.components.map((component) => [component['bom-ref'], component]));
  const components = [...byRef.values()].filter((component) => expected.has(component['bom-ref'])).map(corrected);
  const missing = expected.difference(new Set(components.map((component) => component['bom-ref'])));
  if (missing.size > 0) throw new Error(`npm sbom omitted ${[...missing].join(', ')}`);
  const root = corrected(bom.metadata.component);
  const listed = new Set([...expected, root['bom-ref']]);
  const dependencies = [...new Map(bom.dependencies.map((dependency) => [dependency.ref, dependency])).values()]
    .filter(({ ref }) => listed.has(ref))
    .map((dependency) => ({ ...dependency, dependsOn: dependency.dependsOn.filter((ref) => listed.has(ref)) }));
  return { ...bom, metadata: { ...bom.metadata, component: root }, components, dependencies };
}

/**
 * npm uses the folder as the name of a workspace package, and copies the flags of a package's first occurrence to later
 * occurrences.
 */
function corrected(component: Component): Component {
  return {
    ...component,
    name: component['bom-ref'].replace(/@[^@]*$/, ''),
    properties: component.properties?.filter(({ name }) => name !== onlyDevelopment) ?? [],
  };
}
