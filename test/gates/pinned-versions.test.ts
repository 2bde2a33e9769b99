import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listTrackedFiles } from './tree-copy.ts';

const manifestSchema = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});
const manifests = listTrackedFiles().filter((path) => /^((packages\/[^/]+|site)\/)?package\.json$/.test(path));
const read = (path: string): z.infer<typeof manifestSchema> =>
  manifestSchema.parse(JSON.parse(readFileSync(path, 'utf8')));

describe('the dependencies', () => {
  it('finds dependencies in the manifests', () => {
    expect(Object.keys(read('package.json').dependencies).length).toBeGreaterThan(10);
    expect(manifests.length).toBeGreaterThan(2);
  });

  it.each(manifests)('pins dependencies to exact versions in %s', (path) => {
    const versions = Object.values(read(path)).flatMap((group) => Object.entries(group));
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
});
