import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseLockFile } from './packages/lock-file.ts';
import { productionBom } from './packages/production-bom.ts';

/** Writes the software bill of materials of a deployed service (CycloneDX). Uses only the lock file, not the registry. */
const [path = 'sbom.cdx.json'] = process.argv.slice(2);

const parameters = ['--package-lock-only', '--offline', '--sbom-format=cyclonedx', '--sbom-type=application'];
const output = execFileSync('npm', ['sbom', '--loglevel=error', ...parameters], {
  encoding: 'utf8',
  maxBuffer: 100_000_000,
});
const bom = productionBom(JSON.parse(output), parseLockFile(readFileSync('package-lock.json', 'utf8')));
writeFileSync(path, `${JSON.stringify(bom, null, 2)}\n`);
process.stdout.write(`${bom.components.length} packages written to ${path}\n`);
