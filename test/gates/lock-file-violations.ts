import type { LockedPackage } from '../../scripts/packages/lock-file.ts';

/** Licences that ask for no more than their own text. A new one is a decision: see docs/decisions/supply-chain.md. */
const allowedLicences = new Set(['MIT', 'Apache-2.0', 'BSD-3-Clause', 'ISC', '0BSD']);

/**
 * Packages that may want to run code while they are installed, with the reason. None has to; .npmrc forbids it to all.
 * swagger-ui-dist brings @scarf/scarf, which reports installations; package.json turns that off as well.
 */
const allowedInstallScripts = new Set(['@scarf/scarf']);

/** What is wrong with the packages of a lock file, one line each. */
export function lockFileViolations(packages: readonly LockedPackage[]): string[] {
  return packages.flatMap((locked) =>
    [licenceFault(locked), installScriptFault(locked), integrityFault(locked), ...addressFaults(locked)].flatMap(
      (fault) => (fault === null ? [] : [`${locked.path || 'the root'}: ${fault}`]),
    ),
  );
}

function licenceFault({ license, dev, link }: LockedPackage): string | null {
  if (dev || link) return null;
  if (license === undefined) return 'has no licence';
  return isAllowed(license) ? null : `has the licence ${license}`;
}

/** `A`, `(A OR B)` where one is enough, `(A AND B)` where all count. Whatever else can be written is for a person to read. */
export function isAllowed(license: string): boolean {
  const bare = /^\(([^()]*)\)$/.exec(license)?.[1] ?? license;
  if (/[()]/.test(bare)) return false;
  const either = bare.split(' OR ');
  if (either.length > 1) return either.some((one) => allowedLicences.has(one));
  return bare.split(' AND ').every((one) => allowedLicences.has(one));
}

function installScriptFault({ name, hasInstallScript }: LockedPackage): string | null {
  return hasInstallScript && !allowedInstallScripts.has(name) ? 'runs a script while it is installed' : null;
}

/** The registry from which the lock file was made does not carry the tools' binaries for other platforms. */
function isToolOfOtherPlatform({ dev, optional, os, cpu }: LockedPackage): boolean {
  return dev === true && optional === true && os !== undefined && cpu !== undefined;
}

function integrityFault(locked: LockedPackage): string | null {
  const { path, integrity, link } = locked;
  if (link || !path.includes('node_modules/')) return null;
  if (integrity === undefined) return isToolOfOtherPlatform(locked) ? null : 'has no checksum';
  return /^sha512-[\w+/]{86}==$/.test(integrity) ? null : 'has a weak checksum';
}

/** Only names and versions: an address would bind us to one machine, or get a package past the registry. */
function addressFaults(locked: LockedPackage): string[] {
  const { resolved, link, version, dependencies, devDependencies, optionalDependencies, peerDependencies } = locked;
  const isOwnFolder = link === true && /^packages\/[a-z-]+$/.test(resolved ?? '');
  const specs = { ...peerDependencies, ...optionalDependencies, ...devDependencies, ...dependencies };
  return [
    ...(resolved === undefined || isOwnFolder ? [] : ['is bound to an address']),
    ...(link || /^\d+\.\d+\.\d+/.test(version ?? '') ? [] : ['has no version']),
    ...Object.entries(specs).flatMap(([name, spec]) => (/[:/]/.test(spec) ? [`takes ${name} from an address`] : [])),
  ];
}
