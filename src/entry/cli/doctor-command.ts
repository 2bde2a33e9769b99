import type { Command } from 'commander';
import type { Finding } from '../doctor/examine.ts';
import { say, sayJson } from './output.ts';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('ask every server and say what is wrong and what to do; ends with 1 if something is')
    .option('--json', 'as JSON, for scripts')
    .action(async ({ json }: { json?: true }) => {
      const { examineAll } = await import('../doctor/examine-all.ts');
      const findings = await examineAll();
      if (json) sayJson(findings);
      else say(findings.map(lineOf).join('\n'));
      if (findings.some(({ isWell }) => !isWell)) process.exitCode = 1;
    });
}

function lineOf({ name, isWell, said, remedy, milliseconds }: Finding): string {
  const line = `${isWell ? 'ok   ' : 'WRONG'}  ${name}: ${said} (${milliseconds} ms)`;
  return isWell ? line : `${line}\n       ${remedy}`;
}
