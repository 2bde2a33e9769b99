import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { engineChecks } from '../doctor/engine-checks.ts';
import { examine, type Finding } from '../doctor/examine.ts';
import { issuerChecks } from '../doctor/issuer-checks.ts';
import { postgresChecks } from '../doctor/postgres-checks.ts';
import { storageChecks } from '../doctor/storage-checks.ts';
import { say, sayJson } from './output.ts';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('ask every server and say what is wrong and what to do; ends with 1 if something is')
    .option('--json', 'as JSON, for scripts')
    .action(async ({ json }: { json?: true }) => {
      const config = readConfig();
      const findings = await examine([
        ...postgresChecks(config),
        ...engineChecks(config),
        ...storageChecks(config),
        ...issuerChecks(config),
      ]);
      if (json) sayJson(findings);
      else say(findings.map(lineOf).join('\n'));
      if (findings.some(({ isWell }) => !isWell)) process.exitCode = 1;
    });
}

function lineOf({ name, isWell, said, remedy, milliseconds }: Finding): string {
  const line = `${isWell ? 'ok   ' : 'WRONG'}  ${name}: ${said} (${milliseconds} ms)`;
  return isWell ? line : `${line}\n       ${remedy}`;
}
