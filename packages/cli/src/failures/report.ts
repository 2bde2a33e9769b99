import { CommanderError } from 'commander';
import { paint } from '../terminal/output.ts';
import { escapeTerminal, escapeTerminalJson } from '../terminal/text.ts';
import { CliFailure, exitCode, wrongUse } from './cli-failure.ts';

type Options = {
  /** Converts errors from commands that the caller has added. Null for other errors. */
  readonly toFailure?: ((error: unknown) => CliFailure | null) | undefined;
  /** Prints the error as a problem document. */
  readonly isJson?: boolean;
};

/** Prints the error to standard error and returns the exit code. */
export function report(
  error: unknown,
  { toFailure, isJson = false }: Options = {},
  stream: NodeJS.WriteStream = process.stderr,
): number {
  if (error instanceof CommanderError) {
    // Exit code 0 means that the user requested output such as --help.
    if (error.exitCode === 0) return exitCode.good;
    // Commander has already printed the error, except with --json.
    if (isJson) printProblem(usageFailure(error), stream);
    return exitCode.wrongUse;
  }
  const failure = error instanceof CliFailure ? error : (toFailure?.(error) ?? unexpectedFailure(error));
  if (isJson) printProblem(failure, stream);
  else stream.write(`${describeFailure(failure, stream).join('\n')}\n`);
  return failure.details.exitCode;
}

function usageFailure({ message }: CommanderError): CliFailure {
  const detail = message
    .replace(/^error: /, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return wrongUse(detail === '(outputHelp)' ? 'The command is incomplete.' : detail, 'Run with --help for usage.');
}

function unexpectedFailure(error: unknown): CliFailure {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no message';
  return new CliFailure({
    code: 'unexpected',
    detail: message === '' ? code : message,
    remedy: 'This is a bug in `inlet` or a problem on this machine. Please report it.',
    exitCode: exitCode.failed,
  });
}

/** Prints a problem document (RFC 9457) like those of the API. */
function printProblem({ details }: CliFailure, stream: NodeJS.WriteStream): void {
  const { code, title, problemTitle, detail, remedy, fields, requestId, status, exitCode: exit } = details;
  const problem = {
    type: `urn:inlet:error:${code}`,
    title: title ?? problemTitle ?? detail,
    status,
    detail,
    code,
    request_id: requestId,
    errors: fields,
    remedy: remedy === '' ? undefined : remedy,
    exit_code: exit,
  };
  stream.write(`${escapeTerminalJson(problem)}\n`);
}

function describeFailure({ details }: CliFailure, stream: NodeJS.WriteStream): string[] {
  return [
    heading(details.code, details.title ?? details.detail, stream),
    ...(details.title === undefined || details.title === details.detail
      ? []
      : [`  cause:   ${escapeTerminal(details.detail)}`]),
    // Further lines describe the fields in more detail.
    ...(details.more ? [] : (details.fields ?? [])).map(
      ({ pointer, detail }) => `  field:   ${escapeTerminal(pointer)} ${escapeTerminal(detail)}`,
    ),
    ...(details.more ?? []).map((line) => `  ${escapeTerminal(line)}`),
    ...(details.remedy === '' ? [] : [`  remedy:  ${escapeTerminal(details.remedy)}`]),
    ...(details.requestId === undefined ? [] : [`  request: ${escapeTerminal(details.requestId)}`]),
  ];
}

function heading(code: string, detail: string, stream: NodeJS.WriteStream): string {
  return `${paint(stream, 'red', 'error:')} ${paint(stream, 'bold', escapeTerminal(code))}: ${escapeTerminal(detail)}`;
}
