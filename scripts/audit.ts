import { spawnSync } from 'node:child_process';
import { readAudit } from './packages/read-audit.ts';

// Asks the registry for known flaws in the packages of a deployed service. Fails for grave ones, and when npm fails; a
// registry that cannot be asked is named, and is no reason to fail: a mirror often cannot. More parameters go to npm.

// Offline, npm would say that there is nothing wrong without having asked.
const parameters = ['audit', '--omit=dev', '--json', '--loglevel=silent', ...process.argv.slice(2), '--offline=false'];
const { stdout } = spawnSync('npm', parameters, { encoding: 'utf8', maxBuffer: 100_000_000 });
const outcome = readAudit(stdout);

switch (outcome.kind) {
  case 'unsupported':
    process.stdout.write(
      `audit: could not be asked. The registry does not answer this question (HTTP ${outcome.status}); nothing is known about flaws.\n`,
    );
    break;
  case 'failed':
    process.stderr.write(`audit: FAILED, nothing is known about flaws: ${outcome.reason}\n`);
    process.exitCode = 1;
    break;
  case 'asked':
    for (const finding of outcome.findings) process.stdout.write(`${finding}\n`);
    process.stdout.write(`audit: ${outcome.findings.length} packages with known flaws\n`);
    if (outcome.isGrave) {
      process.stderr.write('audit: FAILED, some are high or critical\n');
      process.exitCode = 1;
    }
    break;
}
