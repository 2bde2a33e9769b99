import { spawnSync } from 'node:child_process';
import { readAudit } from './packages/read-audit.ts';

// Checks the production packages for known vulnerabilities. Exits with an error if a vulnerability is severe or if npm
// fails. Many mirrors do not support audits; the script reports this without failing. Additional arguments are passed
// to npm.

// In offline mode, npm checks nothing and reports no vulnerabilities.
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
    process.stderr.write(`audit: FAILED. Vulnerabilities are unknown: ${outcome.reason}\n`);
    process.exitCode = 1;
    break;
  case 'audited':
    for (const finding of outcome.findings) process.stdout.write(`${finding}\n`);
    process.stdout.write(`audit: ${outcome.findings.length} packages with known vulnerabilities\n`);
    if (outcome.isSevere) {
      process.stderr.write('audit: FAILED. Some vulnerabilities are high or critical.\n');
      process.exitCode = 1;
    }
    break;
}
