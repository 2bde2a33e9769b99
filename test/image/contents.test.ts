import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isOurs, parseLockFile, productionPackages } from '../../scripts/packages/lock-file.ts';
import { inspectImage, mountImage, runForBackup } from './containers.ts';

const inspectedSchema = z.tuple([
  z.object({
    Size: z.int(),
    RootFS: z.object({ Layers: z.array(z.string()) }),
    Config: z.object({
      User: z.string(),
      Entrypoint: z.array(z.string()),
      Cmd: z.array(z.string()),
      Env: z.array(z.string()),
    }),
    History: z.array(z.looseObject({ created_by: z.string().optional() })),
  }),
]);

describe('the image', () => {
  let image: z.infer<typeof inspectedSchema>[0];
  let mounted: Awaited<ReturnType<typeof mountImage>>;

  beforeAll(async () => {
    [image] = inspectedSchema.parse(JSON.parse(await inspectImage()));
    mounted = await mountImage();
    process.stdout.write(`the image has ${Math.round(image.Size / 1e6)} MB in ${image.RootFS.Layers.length} layers\n`);
  });
  afterAll(() => mounted.unmount());

  const filesIn = (pattern: string): string[] => globSync(pattern, { cwd: mounted.folder });

  it('the image runs as a numeric user with tini as the first process', () => {
    expect(image.Config.User).toBe('1000:1000');
    expect(image.Config.Entrypoint).toEqual(['/usr/bin/tini', '--', '/inlet/start.sh']);
    expect(image.Config.Cmd).toEqual(['api']);
  });

  it('the image stays within its size limit', () => {
    expect(image.Size).toBeLessThan(350_000_000);
    expect(image.RootFS.Layers.length).toBeLessThan(15);
  });

  it('contains only production packages', () => {
    const packages = parseLockFile(readFileSync('package-lock.json', 'utf8'));
    const named = Object.keys(packages.find(({ path }) => path === '')?.dependencies ?? {});
    const found = filesIn('inlet/node_modules/**/package.json')
      .map((path) => path.slice('inlet/'.length, -'/package.json'.length))
      .filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/.test(path));
    const ours = productionPackages(packages)
      .filter(isOurs)
      .map(({ name }) => name);
    const allowed = new Set([
      ...productionPackages(packages).map(({ path }) => path),
      ...ours.map((name) => `node_modules/${name}`),
    ]);
    expect(found.filter((path) => !allowed.has(path))).toEqual([]);
    // The import test covers the transitive dependencies of these packages.
    for (const name of named) expect(existsSync(join(mounted.folder, 'inlet/node_modules', name)), name).toBe(true);
    const folders = filesIn('inlet/packages/*').map((path) => path.replace('inlet/packages/', '@inlet/'));
    expect(folders.toSorted()).toEqual([...ours, '@inlet/console'].toSorted());
    expect(filesIn('inlet/packages/console/dist/index.html')).toHaveLength(1);
    expect(filesIn('inlet/packages/console/*')).toEqual(['inlet/packages/console/dist']);
  });

  it('contains no tests or development files', () => {
    expect(filesIn('inlet/*').toSorted()).toEqual(
      ['LICENSE', 'bin', 'migrations', 'node_modules', 'package.json', 'packages', 'src', 'start.sh'].map(
        (name) => `inlet/${name}`,
      ),
    );
    expect(filesIn('inlet/{src,packages}/**/*.test.ts')).toEqual([]);
    expect(filesIn('inlet/src/**/*.ts').length).toBeGreaterThan(200);
  });

  it('contains no npm configuration from the build', () => {
    expect(filesIn('{inlet,root,home/node}/.npmrc')).toEqual([]);
    expect(existsSync(join(mounted.folder, 'run/secrets'))).toBe(false);
    expect(filesIn('{root,home/node}/.npm')).toEqual([]);
    expect(readFileSync(join(mounted.folder, 'inlet/node_modules/.package-lock.json'), 'utf8')).not.toMatch(
      /https?:\/\/[^"]*\.tgz/,
    );
    const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
    const history = image.History.map(({ created_by = '' }) => created_by).join('\n') + image.Config.Env.join('\n');
    expect(history).toContain('COPY');
    expect(history).not.toContain(new URL(registry).host);
    expect(history).not.toMatch(/_auth|_password|BEGIN CERTIFICATE/i);
  });

  it('contains no files that its user can change', () => {
    const mine = execFileSync('find', [
      join(mounted.folder, 'inlet'),
      '(',
      '-uid',
      '1000',
      '-o',
      '-perm',
      '-o=w',
      ')',
      '!',
      '-type',
      'l',
    ]);
    expect(mine.toString()).toBe('');
  });
});

describe('the image variant for backups', () => {
  it.each(['pg_dump', 'pg_restore'])('runs %s as the same user', async (tool) => {
    const { code, out } = await runForBackup('sh', '-c', `id -u && exec "$INLET_POSTGRES_TOOLS/${tool}" --version`);
    expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`^1000\\n${tool} \\(PostgreSQL\\) 15`))]);
  });
});
