import { CommanderError } from 'commander';
import { paint } from '../terminal/output.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { CliFailure, exitCode } from './cli-failure.ts';

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
  stream.write(`${explain ? escapeLines(explain(error)) : tellUnexpected(error, stream)}\n`);
  return exitCode.failed;
}

/** Whoever explains may use several lines; what is in them can come from a server. */
function escapeLines(text: string): string {
  return text.split('\n').map(escapeTerminal).join('\n');
}

function tell({ told }: CliFailure, stream: NodeJS.WriteStream): string[] {
  return [
    heading(told.code, told.title ?? told.detail, stream),
    ...(told.title === undefined || told.title === told.detail ? [] : [`  cause:   ${escapeTerminal(told.detail)}`]),
    ...(told.fields ?? []).map(
      ({ pointer, detail }) => `  field:   ${escapeTerminal(pointer)} ${escapeTerminal(detail)}`,
    ),
    ...(told.remedy === '' ? [] : [`  remedy:  ${escapeTerminal(told.remedy)}`]),
    ...(told.requestId === undefined ? [] : [`  request: ${escapeTerminal(told.requestId)}`]),
  ];
}

function tellUnexpected(error: unknown, stream: NodeJS.WriteStream): string {
  const detail = error instanceof Error ? error.message : String(error);
  const remedy = '  remedy:  This is a mistake in `inlet` itself, or something on this machine. Please report it.';
  return `${heading('unexpected', detail, stream)}\n${remedy}`;
}

function heading(code: string, detail: string, stream: NodeJS.WriteStream): string {
  return `${paint(stream, 'red', 'error:')} ${paint(stream, 'bold', escapeTerminal(code))}: ${escapeTerminal(detail)}`;
}
