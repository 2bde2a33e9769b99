import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isOurs, parseLockFile, productionPackages } from '../../scripts/packages/lock-file.ts';
import { reasonsIn } from '../../scripts/packages/reasons.ts';
import { isAllowed, lockFileViolations } from './lock-file-violations.ts';
import { pathInRepository } from './tree-copy.ts';

const textOf = (path: string): string => readFileSync(pathInRepository(path), 'utf8');
const lockText = textOf('package-lock.json');
const packages = parseLockFile(lockText);

const manifestSchema = z.object({
  version: z.string(),
  license: z.string().optional(),
  scripts: z.record(z.string(), z.string()).default({}),
});

describe('package-lock.json', () => {
  it('the locked packages include production and development packages', () => {
    expect(productionPackages(packages).length).toBeGreaterThan(50);
    expect(packages.length).toBeGreaterThan(2 * productionPackages(packages).length);
  });

  it('the locked packages have allowed licenses and checksums, but no install scripts or URLs', () => {
    expect(lockFileViolations(packages)).toEqual([]);
  });

  it('the locked packages match their installed manifests', () => {
    const installed = packages.filter(
      (locked) => !isOurs(locked) && !locked.link && existsSync(pathInRepository(locked.path)),
    );
    expect(installed.length).toBeGreaterThan(productionPackages(packages).length);
    const differing = installed.filter(({ path, version, license, hasInstallScript = false }) => {
      const manifest = manifestSchema.parse(JSON.parse(textOf(`${path}/package.json`)));
      const runsScript =
        ['preinstall', 'install', 'postinstall'].some((name) => name in manifest.scripts) ||
        existsSync(pathInRepository(`${path}/binding.gyp`));
      return manifest.version !== version || manifest.license !== license || runsScript !== hasInstallScript;
    });
    expect(differing.map(({ path }) => path)).toEqual([]);
  });

  it('the documented reasons cover exactly the development dependencies', () => {
    // The console is built from our own packages, which need no reason.
    const named = packages
      .filter(isOurs)
      .flatMap(({ devDependencies = {} }) => Object.keys(devDependencies))
      .filter((name) => !name.startsWith('@inlet/'));
    const explained = reasonsIn(textOf('docs/dependencies.md'), 'What development needs');
    expect([...explained.keys()].toSorted()).toEqual(named.toSorted());
  });

  it('the locked packages are installed without running scripts', () => {
    expect(textOf('.npmrc').split('\n')).toContain('ignore-scripts=true');
  });
});

// The site's packages are build tools and are not distributed. See docs/decisions/development-stack.md.
describe('packages of the documentation site', () => {
  const tools = parseLockFile(textOf('site/package-lock.json')).map((locked) => ({ ...locked, dev: true }));

  it('the site packages have checksums, no URLs, and a single install script, which is disabled', () => {
    expect(tools.length).toBeGreaterThan(100);
    // The script would only check that its binary starts.
    expect(lockFileViolations(tools)).toEqual(['node_modules/esbuild: has an install script']);
    expect(textOf('site/.npmrc')).toBe(textOf('.npmrc'));
  });

  it('the site packages have a documented reason for each direct dependency', () => {
    const named = tools.filter(isOurs).flatMap(({ dependencies = {} }) => Object.keys(dependencies));
    const explained = reasonsIn(textOf('docs/dependencies.md'), 'Packages of the documentation site');
    expect([...explained.keys()].toSorted()).toEqual(named.toSorted());
  });
});

/** Returns a lock file with production, development, and workspace packages and one change. */
function lockWith(path: string, change: object): string {
  const integrity = `sha512-${'A'.repeat(86)}==`;
  const good: Record<string, object> = {
    '': { name: 'us', version: '1.0.0', license: 'MIT', dependencies: { runs: '1.0.0' } },
    'node_modules/@us/own': { resolved: 'packages/own', link: true },
    'node_modules/runs': { version: '1.0.0', license: 'MIT', integrity },
    'node_modules/runs/node_modules/inner': { version: '1.0.0', license: '(MIT OR CC0-1.0)', integrity },
    'node_modules/tool': { version: '1.0.0', license: 'MPL-2.0', integrity, dev: true },
    'node_modules/tool-mac': { version: '1.0.0', dev: true, optional: true, os: ['darwin'], cpu: ['arm64'] },
    'packages/own': { name: '@us/own', version: '1.0.0', license: 'MIT' },
  };
  return JSON.stringify({ lockfileVersion: 3, packages: { ...good, [path]: { ...good[path], ...change } } });
}
const runs = 'node_modules/runs';
const inner = 'node_modules/runs/node_modules/inner';
const tool = 'node_modules/tool';

describe('a lock file', () => {
  it('accepts a lock file without violations', () => {
    expect(lockFileViolations(parseLockFile(lockWith(runs, {})))).toEqual([]);
  });

  const planted: [string, string, object, string][] = [
    ['a license that is not allowed', runs, { license: 'GPL-3.0-only' }, 'has the license GPL-3.0-only'],
    [
      'a transitive dependency with a license that is not allowed',
      inner,
      { license: 'SSPL-1.0' },
      'has the license SSPL-1.0',
    ],
    ['no license', runs, { license: undefined }, 'has no license'],
    ['a license that is not a string', runs, { license: { type: 'MIT' } }, 'has no license'],
    ['an install script', runs, { hasInstallScript: true }, 'has an install script'],
    ['an install script of a tool', tool, { hasInstallScript: true }, 'has an install script'],
    ['no checksum', runs, { integrity: undefined }, 'has no checksum'],
    ['no checksum of an optional package', runs, { integrity: undefined, optional: true }, 'has no checksum'],
    ['no checksum of a tool', tool, { integrity: undefined }, 'has no checksum'],
    ['no checksum of a production binary', 'node_modules/tool-mac', { dev: false, license: 'MIT' }, 'has no checksum'],
    ['a weak checksum', runs, { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'has a weak checksum'],
    ['a registry URL', runs, { resolved: 'https://host.example/runs.tgz' }, 'has a URL'],
    ['a repository URL', tool, { resolved: 'git+ssh://git@host.example/tool' }, 'has a URL'],
    ['a file URL', runs, { resolved: 'file:../runs.tgz' }, 'has a URL'],
    ['a link outside the repository', 'node_modules/@us/own', { resolved: '../own' }, 'has a URL'],
    ['a URL as version', runs, { version: 'https://host.example/runs.tgz' }, 'has no version'],
    ['a dependency on a URL', runs, { dependencies: { a: 'git@host.example:a' } }, 'takes a from a URL'],
    ['a dependency on a repository', '', { devDependencies: { a: 'someone/a' } }, 'takes a from a URL'],
  ];
  it.each(planted)('rejects a lock file with %s', (_what, path, change, fault) => {
    expect(lockFileViolations(parseLockFile(lockWith(path, change)))).toEqual([`${path || 'the root'}: ${fault}`]);
  });
});

describe('isAllowed', () => {
  it.each(['MIT', '(MIT)', '(MIT OR GPL-3.0-only)', 'GPL-3.0-only OR ISC', '(MIT AND Apache-2.0)'])(
    'accepts %s',
    (license) => {
      expect(isAllowed(license)).toBe(true);
    },
  );

  it.each([
    '',
    'mit',
    'UNLICENSED',
    'SEE LICENSE IN LICENSE.md',
    '(MIT AND GPL-3.0-only)',
    'GPL-3.0-only OR AGPL-3.0-only',
    '(MIT OR ISC) AND GPL-3.0-only',
    'MIT AND GPL-3.0-only OR LGPL-3.0-only',
    'GPL-3.0-only AND (SSPL-1.0 OR MIT OR ISC)',
  ])('rejects %j', (license) => {
    expect(isAllowed(license)).toBe(false);
  });
});
