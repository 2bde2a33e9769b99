import { spawnSync } from 'node:child_process';
import { readAudit } from './packages/read-audit.ts';

// Checks the production packages for known vulnerabilities. Exits with an error if a vulnerability is severe or if npm
// fails. A registry without audit support, such as many mirrors, is reported but is not an error. Additional arguments
// are passed to npm.

// When it is offline, npm checks nothing and reports no vulnerabilities.
const parameters = ['audit', '--omit=dev', '--json', '--loglevel=silent', ...process.argv.slice(2), '--offline=false'];
const { stdout } = spawnSync('npm', parameters, { encoding: 'utf8', maxBuffer: 100_000_000 });
const outcome = readAudit(stdout);

switch (outcome.kind) {
  case 'unsupported':
    process.stdout.write(
      `audit: skipped. The registry does not support audits (HTTP ${outcome.status}), so vulnerabilities are unknown.\n`,
    );
    break;
  case 'failed':
    process.stderr.write(`audit: FAILED, vulnerabilities are unknown: ${outcome.reason}\n`);
    process.exitCode = 1;
    break;
  case 'audited':
    for (const finding of outcome.findings) process.stdout.write(`${finding}\n`);
    process.stdout.write(`audit: ${outcome.findings.length} packages with known vulnerabilities\n`);
    if (outcome.isSevere) {
      process.stderr.write('audit: FAILED, some are high or critical\n');
      process.exitCode = 1;
    }
    break;
}
