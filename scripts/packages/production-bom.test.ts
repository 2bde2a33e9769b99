import { describe, expect, it } from 'vitest';
import { parseLockFile } from './lock-file.ts';
import { productionBom } from './production-bom.ts';

const lock = (packages: object): ReturnType<typeof parseLockFile> =>
  parseLockFile(JSON.stringify({ lockfileVersion: 3, packages }));
const development = { name: 'cdx:npm:package:development', value: 'true' };

const packages = lock({
  '': { name: 'us', version: '1.0.0', dependencies: { '@us/own': '1.0.0', runs: '1.0.0' } },
  'node_modules/@us/own': { resolved: 'packages/own', link: true },
  'node_modules/runs': { version: '1.0.0' },
  'node_modules/tool': { version: '1.0.0', dev: true },
  'node_modules/tool/node_modules/shared': { version: '2.0.0', dev: true },
  'node_modules/runs/node_modules/shared': { version: '2.0.0' },
  'packages/own': { name: '@us/own', version: '1.0.0' },
  'packages/for-others': { name: '@us/for-others', version: '1.0.0' },
});
const bom = {
  specVersion: '1.5',
  metadata: { component: { 'bom-ref': 'us@1.0.0', name: 'folder', properties: [] } },
  components: [
    { 'bom-ref': 'runs@1.0.0', name: 'runs', purl: 'kept' },
    { 'bom-ref': 'shared@2.0.0', name: 'shared', properties: [development] },
    { 'bom-ref': 'tool@1.0.0', name: 'tool', properties: [development] },
    { 'bom-ref': '@us/own@1.0.0', name: 'own', properties: [] },
    { 'bom-ref': '@us/for-others@1.0.0', name: 'for-others', properties: [] },
  ],
  dependencies: [
    { ref: 'us@1.0.0', dependsOn: ['runs@1.0.0', 'tool@1.0.0'] },
    { ref: 'runs@1.0.0', dependsOn: ['shared@2.0.0'] },
    { ref: 'tool@1.0.0', dependsOn: ['shared@2.0.0'] },
    { ref: 'shared@2.0.0', dependsOn: [] },
    { ref: '@us/own@1.0.0', dependsOn: [] },
  ],
};

describe('productionBom', () => {
  it('omits packages that only development or other workspaces need', () => {
    const { components, dependencies } = productionBom(bom, packages);
    expect(components.map(({ name }) => name)).toEqual(['runs', 'shared', '@us/own']);
    expect(dependencies.map(({ ref, dependsOn }) => [ref, ...dependsOn])).toEqual([
      ['us@1.0.0', 'runs@1.0.0'],
      ['runs@1.0.0', 'shared@2.0.0'],
      ['shared@2.0.0'],
      ['@us/own@1.0.0'],
    ]);
  });

  it('does not mark a production package as a development package', () => {
    expect(JSON.stringify(productionBom(bom, packages))).not.toContain('development');
  });

  it('uses package names for workspace packages and leaves other entries unchanged', () => {
    const made = productionBom(bom, packages);
    expect(made.metadata.component.name).toBe('us');
    expect(made).toMatchObject({ specVersion: '1.5', components: [{ purl: 'kept' }, {}, {}] });
  });

  it('lists a package once if it is installed twice', () => {
    const twice = {
      ...bom,
      components: [...bom.components, { 'bom-ref': 'shared@2.0.0', name: 'shared' }],
      dependencies: [...bom.dependencies, { ref: 'shared@2.0.0', dependsOn: [] }],
    };
    expect(productionBom(twice, packages)).toMatchObject({ components: [{}, {}, {}], dependencies: [{}, {}, {}, {}] });
  });

  it('fails if npm omitted a package that the service needs', () => {
    const incomplete = { ...bom, components: bom.components.slice(1) };
    expect(() => productionBom(incomplete, packages)).toThrow('npm sbom omitted runs@1.0.0');
  });
});
