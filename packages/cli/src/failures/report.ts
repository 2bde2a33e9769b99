import { CommanderError } from 'commander';
import { paint } from '../terminal/output.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { CliFailure, exitCode } from './cli-failure.ts';

/** Prints the error to standard error and returns the exit code. */
export function report(
  error: unknown,
  explain?: (error: unknown) => string,
  stream: NodeJS.WriteStream = process.stderr,
): number {
  // Commander has already printed the error. Exit code 0 means that the user requested output such as --help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.good : exitCode.wrongUse;
  if (error instanceof CliFailure) {
    stream.write(`${describeFailure(error, stream).join('\n')}\n`);
    return error.details.exitCode;
  }
  stream.write(`${explain ? escapeLines(explain(error)) : describeUnexpected(error, stream)}\n`);
  return exitCode.failed;
}

/** Escapes each line separately, because an explanation can span several lines and contain text from a server. */
function escapeLines(text: string): string {
  return text.split('\n').map(escapeTerminal).join('\n');
}

function describeFailure({ details }: CliFailure, stream: NodeJS.WriteStream): string[] {
  return [
    heading(details.code, details.title ?? details.detail, stream),
    ...(details.title === undefined || details.title === details.detail
      ? []
      : [`  cause:   ${escapeTerminal(details.detail)}`]),
    ...(details.fields ?? []).map(
      ({ pointer, detail }) => `  field:   ${escapeTerminal(pointer)} ${escapeTerminal(detail)}`,
    ),
    ...(details.remedy === '' ? [] : [`  remedy:  ${escapeTerminal(details.remedy)}`]),
    ...(details.requestId === undefined ? [] : [`  request: ${escapeTerminal(details.requestId)}`]),
  ];
}

function describeUnexpected(error: unknown, stream: NodeJS.WriteStream): string {
  const detail = error instanceof Error ? error.message : String(error);
  const remedy = '  remedy:  This is a bug in `inlet` or a problem on this machine. Please report it.';
  return `${heading('unexpected', detail, stream)}\n${remedy}`;
}

function heading(code: string, detail: string, stream: NodeJS.WriteStream): string {
  return `${paint(stream, 'red', 'error:')} ${paint(stream, 'bold', escapeTerminal(code))}: ${escapeTerminal(detail)}`;
}
