import type { Command } from 'commander';
import type { CheckResult } from '../doctor/run-checks.ts';
import { print, printJson, wrapText } from './output.ts';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check every server and print problems with their remedies; exit with code 1 on any failure')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const { runDoctor } = await import('../doctor/doctor.ts');
      const results = await runDoctor();
      if (json) printJson(results.map(record));
      else print(results.map(linesOf).join('\n'));
      if (results.some(({ isOk }) => !isOk)) process.exitCode = 1;
    });
}

const indent = ' '.repeat(7);

function linesOf({ name, isOk, message, remedy, causedBy, milliseconds }: CheckResult): string {
  if (causedBy !== null) return `?      ${name}: skipped: fix "${causedBy}" first`;
  const line = `${isOk ? 'ok   ' : 'FAIL '}  ${name}: ${message} (${milliseconds} ms)`;
  return isOk ? line : `${line}\n${wrapText(remedy, process.stdout.columns, indent)}`;
}

/** Scripts depend on these field names. */
function record({ name, isOk, message, remedy, causedBy, milliseconds }: CheckResult): object {
  return { name, isWell: isOk, said: message, remedy, sameAs: causedBy, milliseconds };
}
