import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseLockFile, productionPackages } from '../../scripts/packages/lock-file.ts';
import { pathInRepository } from './tree-copy.ts';

// The parts of the CycloneDX schema that this test uses.
const license = z.union([
  z.strictObject({ license: z.strictObject({ id: z.string().min(1) }) }),
  z.strictObject({ expression: z.string().min(1) }),
]);
const component = z.object({
  'bom-ref': z.string().min(1),
  type: z.enum(['application', 'library']),
  name: z.string().min(1),
  version: z.string().regex(/^\d+\.\d+\.\d+/),
  scope: z.enum(['required', 'optional']),
  purl: z.string().regex(/^pkg:npm\/(%40[^/@]+\/)?[^/@]+@\d/),
  licenses: z.array(license).length(1),
  hashes: z
    .array(z.strictObject({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) }))
    .optional(),
  properties: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  externalReferences: z.array(z.strictObject({ type: z.string(), url: z.string() })),
});
const bomSchema = z.object({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.enum(['1.5', '1.6']),
  version: z.literal(1),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  metadata: z.object({ timestamp: z.iso.datetime(), component }),
  components: z.array(component),
  dependencies: z.array(z.strictObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

const packages = parseLockFile(readFileSync(pathInRepository('package-lock.json'), 'utf8'));
const refOf = ({ name, version }: { name: string; version?: string | undefined }): string => `${name}@${version}`;
const unique = (list: readonly string[]): string[] => [...new Set(list)].toSorted();

describe('the bill of materials', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-sbom-'));
  let bom: z.infer<typeof bomSchema>;

  beforeAll(() => {
    const path = join(folder, 'sbom.json');
    execFileSync('npm', ['run', '--silent', 'sbom', '--', path], { cwd: pathInRepository('.') });
    bom = bomSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('describes this service, regardless of the folder name', () => {
    const version = packages.find(({ path }) => path === '')?.version;
    expect(bom.metadata.component).toMatchObject({ name: 'inlet', type: 'application', version });
  });

  it('lists every production package once and omits development packages', () => {
    const refs = bom.components.map((one) => one['bom-ref']);
    expect(refs.toSorted()).toEqual(unique(productionPackages(packages).map(refOf)));
    // Development uses these packages too, and `npm sbom --omit dev` omits them.
    expect(refs.filter((ref) => /^(zod|pg-protocol|@opentelemetry\/api)@/.test(ref))).toHaveLength(3);
    expect(refs.filter((ref) => /^(vitest|typescript|@types\/)/.test(ref))).toEqual([]);
  });

  it('has a name, a version, and a checksum for every third-party package', () => {
    for (const one of bom.components) {
      expect(one['bom-ref']).toBe(refOf(one));
      expect(decodeURIComponent(one.purl)).toBe(`pkg:npm/${refOf(one)}`);
      expect(one.properties.map(({ name }) => name)).not.toContain('cdx:npm:package:development');
    }
    expect(bom.components.filter(({ hashes }) => !hashes).map(({ name }) => name)).toEqual([
      '@inlet/cli',
      '@inlet/contract',
      '@inlet/row-rule',
      '@inlet/sdk',
    ]);
  });

  it('connects every package to the service through its dependencies', () => {
    const below = new Map(bom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const root = bom.metadata.component['bom-ref'];
    expect(bom.dependencies).toHaveLength(bom.components.length + 1);
    const reached = new Set([root]);
    for (const ref of reached) for (const next of below.get(ref) ?? []) reached.add(next);
    expect([...reached].toSorted()).toEqual([...below.keys()].toSorted());
  });

  it('contains no download URLs', () => {
    const places = bom.components.flatMap(({ externalReferences }) => externalReferences.map(({ type }) => type));
    expect(places).not.toContain('distribution');
  });
});
