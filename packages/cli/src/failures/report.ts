import { CommanderError } from 'commander';
import { exitCode } from '../exit-code.ts';
import { harmless } from '../terminal/harmless.ts';
import { paint } from '../terminal/paint.ts';
import { CliFailure } from './cli-failure.ts';

/** Says on standard error what went wrong, and gives the exit code. */
export function report(
  error: unknown,
  explain?: (error: unknown) => string,
  stream: NodeJS.WriteStream = process.stderr,
): number {
  // Commander has said it already; what it shows because it was asked to is no mistake.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.good : exitCode.wrongUse;
  if (error instanceof CliFailure) {
    stream.write(`${tell(error, stream).join('\n')}\n`);
    return error.told.exitCode;
  }
  stream.write(`${explain ? harmlessLines(explain(error)) : tellUnexpected(error, stream)}\n`);
  return exitCode.failed;
}

/** Whoever explains may use several lines; what is in them can come from a server. */
function harmlessLines(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}

function tell({ told }: CliFailure, stream: NodeJS.WriteStream): string[] {
  return [
    heading(told.code, told.title ?? told.detail, stream),
    ...(told.title === undefined || told.title === told.detail ? [] : [`  cause:   ${harmless(told.detail)}`]),
    ...(told.fields ?? []).map(({ pointer, detail }) => `  field:   ${harmless(pointer)} ${harmless(detail)}`),
    ...(told.remedy === '' ? [] : [`  remedy:  ${harmless(told.remedy)}`]),
    ...(told.requestId === undefined ? [] : [`  request: ${harmless(told.requestId)}`]),
  ];
}

function tellUnexpected(error: unknown, stream: NodeJS.WriteStream): string {
  const detail = error instanceof Error ? error.message : String(error);
  const remedy = '  remedy:  This is a mistake in `inlet` itself, or something on this machine. Please report it.';
  return `${heading('unexpected', detail, stream)}\n${remedy}`;
}

function heading(code: string, detail: string, stream: NodeJS.WriteStream): string {
  return `${paint(stream, 'red', 'error:')} ${paint(stream, 'bold', harmless(code))}: ${harmless(detail)}`;
}
