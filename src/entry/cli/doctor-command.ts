import { outputFor, several } from '@inlet/cli';
import type { Command } from 'commander';
import type { CheckResult } from '../doctor/run-checks.ts';
import { type OutputOptions, operatorCommand, wrapText } from './output.ts';

export function addDoctorCommand(program: Command): void {
  operatorCommand(
    program,
    'doctor',
    'check every server and print problems with their remedies; exit with code 1 on any failure',
  ).action(async (options: OutputOptions) => {
    const { runDoctor } = await import('../doctor/doctor.ts');
    const results = await runDoctor();
    outputFor(options).result(results.map(record), () => [...results.map(linesOf), summaryOf(results)].join('\n'));
    if (results.some(({ isOk }) => !isOk)) process.exitCode = 1;
  });
}

const indent = ' '.repeat(7);

function linesOf({ name, isOk, message, remedy, causedBy, milliseconds }: CheckResult): string {
  if (causedBy !== null) return `SKIP   ${name}: fix "${causedBy}" first`;
  const line = `${isOk ? 'ok   ' : 'FAIL '}  ${name}: ${message} (${milliseconds} ms)`;
  return isOk ? line : `${line}\n${wrapText(remedy, process.stdout.columns, indent)}`;
}

function summaryOf(results: readonly CheckResult[]): string {
  const causes = results.filter(({ isOk, causedBy }) => !isOk && causedBy === null);
  const [first] = causes;
  if (!first) return `\nNo problem found by ${several(results.length, 'check')}.`;
  return `\n${several(causes.length, 'problem')}. Fix first: ${first.name}`;
}

type CheckStatus = 'ok' | 'failed' | 'skipped';

function statusOf({ isOk, causedBy }: CheckResult): CheckStatus {
  if (causedBy !== null) return 'skipped';
  return isOk ? 'ok' : 'failed';
}

function record(result: CheckResult) {
  const { name, message, remedy, causedBy, milliseconds } = result;
  const status = statusOf(result);
  return { check: name, status, message, remedy: status === 'ok' ? null : remedy, caused_by: causedBy, milliseconds };
}
