import { readFileSync } from 'node:fs';
import { installedBytes } from '../packages/installed-size.ts';
import { isOurs, parseLockFile, productionPackages, type LockedPackage } from '../packages/lock-file.ts';
import { reasonsIn, type Reason } from '../packages/reasons.ts';
import { generatedNotice } from './generated-notice.ts';

/** docs/packages.md, from the lock file, the installed packages, and the reasons in docs/dependencies.md. */
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
    `What a deployed service has in \`node_modules\`: ${packages.length} packages, ${Math.round(bytes / 1e6)} MB. What each job would take`,
    'without its package, and the packages of development, are in [dependencies.md](dependencies.md); which licences are taken,',
    'and how the list is guarded, in [supply chain](decisions/supply-chain.md). `npm run sbom` writes the same list as CycloneDX.',
    '',
    '## Named by us',
    '',
    'The size is that of the files of the package itself, without what it brings along.',
    '',
    '| Package | Version | Licence | Size | Job here | Why this one |',
    '|---|---|---|--:|---|---|',
    ...direct.map((one) => rowOf(one, reasons.get(one.name))),
    '',
    '## Brought along by them',
    '',
    '| Package | Version | Licence |',
    '|---|---|---|',
    // Below two packages, the same version stands twice.
    ...new Set(others.map(({ name, version, license }) => `| \`${name}\` | ${version} | ${license} |`)),
    '',
  ].join('\n');
}

/** What our own packages name, in the order of the reasons. Neither may have what the other has not. */
function inOrderOf(
  reasons: ReadonlyMap<string, Reason>,
  locked: readonly LockedPackage[],
  packages: readonly LockedPackage[],
): LockedPackage[] {
  const named = new Set(locked.filter(isOurs).flatMap(({ dependencies = {} }) => Object.keys(dependencies)));
  for (const name of named.difference(reasons)) throw new Error(`docs/dependencies.md has no reason for ${name}`);
  return [...reasons.keys()].map((name) => {
    const found = packages.find((one) => one.name === name && (isOurs(one) || one.path === `node_modules/${name}`));
    if (!found || !named.has(name)) throw new Error(`docs/dependencies.md has ${name}, which nothing of ours names`);
    return found;
  });
}

function rowOf(one: LockedPackage, reason: Reason | undefined): string {
  const size = isOurs(one) ? '–' : inKilobytes(installedBytes(one.path));
  return `| \`${one.name}\` | ${one.version} | ${one.license} | ${size} | ${reason?.job} | ${reason?.why} |`;
}

/** Two digits are enough to compare. */
function inKilobytes(bytes: number): string {
  return `${Number((bytes / 1e3).toPrecision(2)).toLocaleString('en')} kB`;
}

function byNameAndVersion(a: LockedPackage, b: LockedPackage): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

function keyOf({ name, version }: LockedPackage): string {
  return `${name} ${version}`;
}
