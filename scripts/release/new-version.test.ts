import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import {
  bumpChart,
  bumpLockFile,
  bumpManifest,
  nextVersion,
  releaseChangelog,
  unreleasedChanges,
} from './new-version.ts';

describe('nextVersion', () => {
  it.each([
    ['major', '2.0.0'],
    ['minor', '1.3.0'],
    ['patch', '1.2.4'],
    ['1.10.0', '1.10.0'],
  ])('increments 1.2.3 for %s', (wanted, next) => {
    expect(nextVersion('1.2.3', wanted)).toBe(next);
  });

  it.each(['1.2.3', '1.2.2', '0.9.9'])('rejects %s, which is not higher than 1.2.3', (wanted) => {
    expect(() => nextVersion('1.2.3', wanted)).toThrow('is not higher than 1.2.3');
  });

  it.each(['', 'next', '1.2', 'v1.2.3'])('rejects "%s", which is not a version', (wanted) => {
    expect(() => nextVersion('1.2.3', wanted)).toThrow('is not a version');
  });
});

describe('bumpManifest', () => {
  it('sets the new version of the package and of its dependencies among our packages', () => {
    const text = '{\n  "version": "0.1.0",\n  "dependencies": { "@inlet/sdk": "0.1.0", "helm3-cli": "0.1.0" }\n}\n';
    expect(bumpManifest(text, '0.1.0', '0.2.0')).toBe(
      '{\n  "version": "0.2.0",\n  "dependencies": { "@inlet/sdk": "0.2.0", "helm3-cli": "0.1.0" }\n}\n',
    );
  });

  it('rejects a manifest without the current version', () => {
    expect(() => bumpManifest('{ "version": "0.3.0" }', '0.1.0', '0.2.0')).toThrow('no version 0.1.0');
  });
});

const lockFile = z.object({
  version: z.string(),
  packages: z.record(z.string(), z.object({ version: z.string().optional() })),
});

describe('a lock file', () => {
  const text = readFileSync('package-lock.json', 'utf8');
  const bumped = bumpLockFile(text, manifest.version, '99.0.0');
  const changed = bumped.split('\n').filter((line, index) => line !== text.split('\n')[index]);

  it('sets the new version only for our packages', () => {
    const parsed = lockFile.parse(JSON.parse(bumped));
    expect(parsed.version).toBe('99.0.0');
    for (const [path, entry] of Object.entries(parsed.packages))
      expect([path, entry.version === '99.0.0']).toEqual([path, path === '' || path.startsWith('packages/')]);
  });

  it('changes nothing but versions in the lock file', () => {
    for (const line of changed) expect(line).toMatch(/^ +"(version|@inlet\/[\w-]+)": "99\.0\.0",?$/);
  });
});

describe('the chart', () => {
  it('sets the chart to the version of the service', () => {
    const text = 'name: inlet\nversion: 0.1.0\nappVersion: 0.1.0\n';
    expect(bumpChart(text, '0.1.0', '0.2.0')).toBe('name: inlet\nversion: 0.2.0\nappVersion: 0.2.0\n');
  });
});

describe('the changelog', () => {
  const text =
    '# Changelog\n\n## [Unreleased]\n\n### Fixed\n\n- A bug.\n\n## [0.1.0] - 2026-11-16\n\n### Added\n\n- All.\n';

  it('moves unreleased changes into a dated section', () => {
    expect(releaseChangelog(text, '0.2.0', '2026-12-01')).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Fixed\n\n- A bug.\n\n## [0.1.0] - 2026-11-16\n\n### Added\n\n- All.\n',
    );
  });

  it('returns the unreleased changes', () => {
    expect(unreleasedChanges(text)).toBe('### Fixed\n\n- A bug.');
  });

  it('rejects a changelog without unreleased changes', () => {
    const released = releaseChangelog(text, '0.2.0', '2026-12-01');
    expect(() => releaseChangelog(released, '0.3.0', '2026-12-02')).toThrow('nothing under Unreleased');
  });

  it("finds an Unreleased section in this repository's changelog", () => {
    expect(() => unreleasedChanges(readFileSync('CHANGELOG.md', 'utf8'))).not.toThrow();
  });
});
