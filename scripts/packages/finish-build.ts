import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

// In the repository, a package's manifest points to its sources, which Node runs directly. The published package is
// `dist`, which contains the compiled files and a package.json that points to them.

const manifestSchema = z.looseObject({
  exports: z.record(z.string(), z.string()),
  // `bin` is in `publishConfig`, because `npm ci` would link a top-level `bin` as `npx inlet`, without the operator
  // commands.
  publishConfig: z.object({ bin: z.record(z.string(), z.string()) }).optional(),
  scripts: z.unknown().optional(),
});

const folder = process.argv[2] ?? '.';
const dist = join(folder, 'dist');
const {
  scripts: _ofTheTree,
  publishConfig,
  ...manifest
} = manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
const compiled = (path: string, extension: string): string =>
  path.replace(/^\.\/src\//, './').replace(/\.ts$/, extension);

const rename = <T>(paths: Readonly<Record<string, string>>, to: (path: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(paths).map(([name, path]): [string, T] => [name, to(path)]));

const exports = rename(manifest.exports, (path) => {
  const types = compiled(path, '.d.ts');
  return { ...(existsSync(join(dist, types)) ? { types } : {}), default: compiled(path, '.js') };
});
const bin = rename(publishConfig?.bin ?? {}, (path) => compiled(path, '.js'));
const published = {
  ...manifest,
  exports,
  ...(publishConfig ? { bin } : {}),
};
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
copyFileSync(join(import.meta.dirname, '../../LICENSE'), join(dist, 'LICENSE'));
if (existsSync(join(folder, 'README.md'))) copyFileSync(join(folder, 'README.md'), join(dist, 'README.md'));
