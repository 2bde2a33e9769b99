import type { LockedPackage } from '../../scripts/packages/lock-file.ts';

/**
 * Licenses that only require distributors to include the license text. To add a license, see
 * docs/decisions/supply-chain.md.
 */
const allowedLicenses = new Set(['MIT', 'Apache-2.0', 'BSD-3-Clause', 'ISC', '0BSD']);

/**
 * Packages whose install scripts are known to be unnecessary. .npmrc disables install scripts for all packages.
 * swagger-ui-dist depends on @scarf/scarf, which reports installations. package.json disables these reports too.
 */
const allowedInstallScripts = new Set(['@scarf/scarf']);

/** Returns one line per violation in a lock file. */
export function lockFileViolations(packages: readonly LockedPackage[]): string[] {
  return packages.flatMap((locked) =>
    [licenseFault(locked), installScriptFault(locked), integrityFault(locked), ...addressFaults(locked)].flatMap(
      (fault) => (fault === null ? [] : [`${locked.path || 'the root'}: ${fault}`]),
    ),
  );
}

function licenseFault({ license, dev, link }: LockedPackage): string | null {
  if (dev || link) return null;
  if (license === undefined) return 'has no license';
  return isAllowed(license) ? null : `has the license ${license}`;
}

/** Supports `A`, `(A OR B)`, and `(A AND B)`. Any other expression needs a manual review. */
export function isAllowed(license: string): boolean {
  const bare = /^\(([^()]*)\)$/.exec(license)?.[1] ?? license;
  if (/[()]/.test(bare)) return false;
  const either = bare.split(' OR ');
  if (either.length > 1) return either.some((one) => allowedLicenses.has(one));
  return bare.split(' AND ').every((one) => allowedLicenses.has(one));
}

function installScriptFault({ name, hasInstallScript }: LockedPackage): string | null {
  return hasInstallScript && !allowedInstallScripts.has(name) ? 'has an install script' : null;
}

/** The registry that the lock file was created from lacks the tools' binaries for other platforms. */
function isToolOfOtherPlatform({ dev, optional, os, cpu }: LockedPackage): boolean {
  return dev === true && optional === true && os !== undefined && cpu !== undefined;
}

function integrityFault(locked: LockedPackage): string | null {
  const { path, integrity, link } = locked;
  if (link || !path.includes('node_modules/')) return null;
  if (integrity === undefined) return isToolOfOtherPlatform(locked) ? null : 'has no checksum';
  return /^sha512-[\w+/]{86}==$/.test(integrity) ? null : 'has a weak checksum';
}

/** Only names and versions are allowed, because a URL would tie the file to one host or bypass the registry. */
function addressFaults(locked: LockedPackage): string[] {
  const { resolved, link, version, dependencies, devDependencies, optionalDependencies, peerDependencies } = locked;
  const isOwnFolder = link === true && /^packages\/[a-z-]+$/.test(resolved ?? '');
  const specs = { ...peerDependencies, ...optionalDependencies, ...devDependencies, ...dependencies };
  return [
    ...(resolved === undefined || isOwnFolder ? [] : ['has a URL']),
    ...(link || /^\d+\.\d+\.\d+/.test(version ?? '') ? [] : ['has no version']),
    ...Object.entries(specs).flatMap(([name, spec]) => (/[:/]/.test(spec) ? [`takes ${name} from a URL`] : [])),
  ];
}
