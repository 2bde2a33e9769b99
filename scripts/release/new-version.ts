// These pure functions compute the file changes of a release, so that dry runs and real runs share the code.

/**
 * Returns the next major, minor, or patch version, or an explicit version, which must be higher than the current one.
 */
export function nextVersion(current: string, wanted: string): string {
  const [major, minor, patch] = partsOf(current);
  switch (wanted) {
    case 'major':
      return `${major + 1}.0.0`;
    case 'minor':
      return `${major}.${minor + 1}.0`;
    case 'patch':
      return `${major}.${minor}.${patch + 1}`;
    default:
      if (!isHigher(partsOf(wanted), [major, minor, patch])) throw new Error(`${wanted} is not higher than ${current}`);
      return wanted;
  }
}

type Parts = readonly [number, number, number];

function partsOf(version: string): Parts {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  if (major === undefined || minor === undefined || patch === undefined)
    throw new Error(`"${version}" is not a version: use major, minor, patch or three numbers such as 1.2.3`);
  return [Number(major), Number(minor), Number(patch)];
}

function isHigher(left: Parts, right: Parts): boolean {
  const difference = left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
  return difference > 0;
}

/** Updates a package.json: its own version, and the versions of our packages that it depends on. */
export function bumpManifest(text: string, from: string, to: string): string {
  const own = text.replace(`"version": "${from}"`, `"version": "${to}"`);
  if (own === text) throw new Error(`no version ${from} in the manifest`);
  return own.replaceAll(/("@inlet\/[\w-]+": )"([^"]+)"/g, (whole: string, name: string, version: string) =>
    version === from ? `${name}"${to}"` : whole,
  );
}

/** Updates only our own packages in a package-lock.json, because other packages can have the same version. */
export function bumpLockFile(text: string, from: string, to: string): string {
  // The file's own version is indented by two spaces. It can be above or below the packages.
  const own = text.replace(`\n  "version": "${from}"`, `\n  "version": "${to}"`);
  return own
    .split(/^(?= {4}"[^"]*": \{$)/m)
    .map((block) => (/^ {4}"(?:packages\/[^"]+)?": /.test(block) ? bumpManifest(block, from, to) : block))
    .join('');
}

/** Chart.yaml: the chart has the same version as the service. */
export function bumpChart(text: string, from: string, to: string): string {
  return text
    .replace(`\nversion: ${from}\n`, `\nversion: ${to}\n`)
    .replace(`\nappVersion: ${from}`, `\nappVersion: ${to}`);
}

const unreleased = '## [Unreleased]\n';

/** Moves the unreleased changes into a section for the release. Fails if there are none. */
export function releaseChangelog(text: string, version: string, date: string): string {
  const changes = unreleasedChanges(text);
  if (changes === '') throw new Error('CHANGELOG.md has nothing under Unreleased');
  return text.replace(unreleased, `${unreleased}\n## [${version}] - ${date}\n`);
}

/** The text under Unreleased, without surrounding blank lines. */
export function unreleasedChanges(text: string): string {
  const [, after] = text.split(unreleased);
  if (after === undefined) throw new Error('CHANGELOG.md has no section "## [Unreleased]"');
  return (after.split(/^## /m)[0] ?? '').trim();
}
