import type { Problem, Result } from '@inlet/sdk';
import { exitCode, type ExitCode } from '../exit-code.ts';
import { CliFailure } from './cli-failure.ts';

/** The value of a call, or the end of the command. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw failureOf(result.problem);
}

export function failureOf(problem: Problem): CliFailure {
  const remedy = '';
  if (problem.from === 'sdk') {
    return new CliFailure({ code: problem.code, detail: problem.detail, remedy, exitCode: exitCodeOf(problem) });
  }
  const { code, detail, errors: fields, request_id: requestId } = problem;
  return new CliFailure({ code, detail, remedy, fields, requestId, exitCode: exitCodeOf(problem) });
}

function exitCodeOf(_problem: Problem): ExitCode {
  return exitCode.failed;
}
