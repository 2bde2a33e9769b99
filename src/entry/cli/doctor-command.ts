import type { Command } from 'commander';
import type { Finding } from '../doctor/examine.ts';
import { inLines } from './in-lines.ts';
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
      else say(findings.map(linesOf).join('\n'));
      if (findings.some(({ isWell }) => !isWell)) process.exitCode = 1;
    });
}

const indent = ' '.repeat(7);

function linesOf({ name, isWell, said, remedy, sameAs, milliseconds }: Finding): string {
  if (sameAs !== null) return `?      ${name}: not known before "${sameAs}" is mended`;
  const line = `${isWell ? 'ok   ' : 'WRONG'}  ${name}: ${said} (${milliseconds} ms)`;
  return isWell ? line : `${line}\n${inLines(remedy, process.stdout.columns, indent)}`;
}
