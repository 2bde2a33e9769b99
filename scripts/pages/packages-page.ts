import { readFileSync } from 'node:fs';
import { installedBytes } from '../packages/installed-size.ts';
import { isOurs, parseLockFile, productionPackages, type LockedPackage } from '../packages/lock-file.ts';
import { reasonsIn, type Reason } from '../packages/reasons.ts';
import { generatedNotice } from './generated-notice.ts';

/** Generates docs/packages.md from the lock file, the installed packages, and the reasons in docs/dependencies.md. */
export function packagesPage(): string {
  const locked = parseLockFile(readFileSync('package-lock.json', 'utf8'));
  const reasons = reasonsIn(readFileSync('docs/dependencies.md', 'utf8'), 'What the service runs on');
  const packages = productionPackages(locked).toSorted(byNameAndVersion);
  const direct = inOrderOf(reasons, locked, packages);
  const others = packages.filter((one) => !direct.includes(one));
  const bytes = packages.filter((one) => !isOurs(one)).reduce((sum, { path }) => sum + installedBytes(path), 0);
  return [
    '# Packages',
    '',
    generatedNotice('package-lock.json, node_modules and docs/dependencies.md'),
    '',
    `A deployed service has ${packages.length} packages in \`node_modules\`, ${Math.round(bytes / 1e6)} MB. [dependencies.md](dependencies.md) lists`,
    'alternatives and development packages. [Supply chain](decisions/supply-chain.md) describes which licenses are allowed and how',
    'the list is enforced. `npm run sbom` writes the same list as CycloneDX.',
    '',
    '## Direct dependencies',
    '',
    'Sizes do not include transitive dependencies.',
    '',
    '| Package | Version | License | Size | Purpose | Why this one |',
    '|---|---|---|--:|---|---|',
    ...direct.map((one) => rowOf(one, reasons.get(one.name))),
    '',
    '## Transitive dependencies',
    '',
    '| Package | Version | License |',
    '|---|---|---|',
    // The same version can be installed under two packages.
    ...new Set(others.map(({ name, version, license }) => `| \`${name}\` | ${version} | ${license} |`)),
    '',
  ].join('\n');
}

/**
 * Returns the direct dependencies in the order of the reasons. Fails if a dependency has no reason or a reason has no
 * dependency.
 */
function inOrderOf(
  reasons: ReadonlyMap<string, Reason>,
  locked: readonly LockedPackage[],
  packages: readonly LockedPackage[],
): LockedPackage[] {
  const direct = new Set(locked.filter(isOurs).flatMap(({ dependencies = {} }) => Object.keys(dependencies)));
  for (const name of direct.difference(reasons)) throw new Error(`docs/dependencies.md has no reason for ${name}`);
  return [...reasons.keys()].map((name) => {
    const found = packages.find((one) => one.name === name && (isOurs(one) || one.path === `node_modules/${name}`));
    if (!found || !direct.has(name))
      throw new Error(`docs/dependencies.md lists ${name}, which is not a direct dependency`);
    return found;
  });
}

function rowOf(one: LockedPackage, reason: Reason | undefined): string {
  const size = isOurs(one) ? '–' : inKilobytes(installedBytes(one.path));
  return `| \`${one.name}\` | ${one.version} | ${one.license} | ${size} | ${reason?.job} | ${reason?.why} |`;
}

/** Two significant digits are enough for a comparison. */
function inKilobytes(bytes: number): string {
  return `${Number((bytes / 1e3).toPrecision(2)).toLocaleString('en')} kB`;
}

function byNameAndVersion(a: LockedPackage, b: LockedPackage): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

function keyOf({ name, version }: LockedPackage): string {
  return `${name} ${version}`;
}
