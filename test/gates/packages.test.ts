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

describe('the locked packages', () => {
  it('are there', () => {
    expect(productionPackages(packages).length).toBeGreaterThan(50);
    expect(packages.length).toBeGreaterThan(2 * productionPackages(packages).length);
  });

  it('have licences that we may use, no scripts at installation, a checksum each, and no address', () => {
    expect(lockFileViolations(packages)).toEqual([]);
  });

  it('say of themselves what the lock file says of them', () => {
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

  it('have a reason each if development names them, and no reason is left over', () => {
    const named = packages.filter(isOurs).flatMap(({ devDependencies = {} }) => Object.keys(devDependencies));
    const explained = reasonsIn(textOf('docs/dependencies.md'), 'What development needs');
    expect([...explained.keys()].toSorted()).toEqual(named.toSorted());
  });

  it('could run no script if one had it', () => {
    expect(textOf('.npmrc').split('\n')).toContain('ignore-scripts=true');
  });
});

// The site's packages are tools: they make it, and none of them is handed on. See docs/decisions/development-stack.md.
describe('the packages of the documentation site', () => {
  const tools = parseLockFile(textOf('site/package-lock.json')).map((locked) => ({ ...locked, dev: true }));

  it('have a checksum each and no address; one wants to run a script, and may not', () => {
    expect(tools.length).toBeGreaterThan(100);
    // It would check whether its own binary starts.
    expect(lockFileViolations(tools)).toEqual(['node_modules/esbuild: runs a script while it is installed']);
    expect(textOf('site/.npmrc')).toBe(textOf('.npmrc'));
  });

  it('have a reason each if the site names them', () => {
    const named = tools.filter(isOurs).flatMap(({ dependencies = {} }) => Object.keys(dependencies));
    const explained = reasonsIn(textOf('docs/dependencies.md'), 'What the documentation site needs');
    expect([...explained.keys()].toSorted()).toEqual(named.toSorted());
  });
});

/** A lock file with one production package, one for development and one of our own, changed in one place. */
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
  it('without a fault passes', () => {
    expect(lockFileViolations(parseLockFile(lockWith(runs, {})))).toEqual([]);
  });

  const planted: [string, string, object, string][] = [
    ['a licence that is not on the list', runs, { license: 'GPL-3.0-only' }, 'has the licence GPL-3.0-only'],
    ['a licence that somebody else brings in', inner, { license: 'SSPL-1.0' }, 'has the licence SSPL-1.0'],
    ['no licence', runs, { license: undefined }, 'has no licence'],
    ['a licence that is no text', runs, { license: { type: 'MIT' } }, 'has no licence'],
    ['a script at installation', runs, { hasInstallScript: true }, 'runs a script while it is installed'],
    ['a script of a tool', tool, { hasInstallScript: true }, 'runs a script while it is installed'],
    ['no checksum', runs, { integrity: undefined }, 'has no checksum'],
    ['no checksum of an optional package', runs, { integrity: undefined, optional: true }, 'has no checksum'],
    ['no checksum of a tool', tool, { integrity: undefined }, 'has no checksum'],
    [
      'no checksum of a binary that a service would run',
      'node_modules/tool-mac',
      { dev: false, license: 'MIT' },
      'has no checksum',
    ],
    ['a weak checksum', runs, { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'has a weak checksum'],
    ['the address of a registry', runs, { resolved: 'https://host.example/runs.tgz' }, 'is bound to an address'],
    ['the address of a repository', tool, { resolved: 'git+ssh://git@host.example/tool' }, 'is bound to an address'],
    ['a file', runs, { resolved: 'file:../runs.tgz' }, 'is bound to an address'],
    ['a link out of the tree', 'node_modules/@us/own', { resolved: '../own' }, 'is bound to an address'],
    ['an address as version', runs, { version: 'https://host.example/runs.tgz' }, 'has no version'],
    ['a need of an address', runs, { dependencies: { a: 'git@host.example:a' } }, 'takes a from an address'],
    ['a need of a repository', '', { devDependencies: { a: 'someone/a' } }, 'takes a from an address'],
  ];
  it.each(planted)('with %s is refused', (_what, path, change, fault) => {
    expect(lockFileViolations(parseLockFile(lockWith(path, change)))).toEqual([`${path || 'the root'}: ${fault}`]);
  });
});

describe('a licence', () => {
  it.each(['MIT', '(MIT)', '(MIT OR GPL-3.0-only)', 'GPL-3.0-only OR ISC', '(MIT AND Apache-2.0)'])(
    '%s may be used',
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
  ])('%j may not', (license) => {
    expect(isAllowed(license)).toBe(false);
  });
});
