import type { ApiProblem, Problem, Result } from '@inlet/sdk';
import { exitCode, type ExitCode } from '../exit-code.ts';
import { CliFailure } from './cli-failure.ts';
import { failureOfTheWay } from './failure-of-the-way.ts';
import { remedyOf } from './remedies.ts';

/** The value of a call, or the end of the command. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw failureOf(result.problem);
}

export function failureOf(problem: Problem): CliFailure {
  if (problem.from === 'sdk') return failureOfTheWay(problem);
  const { code, title, detail, errors: fields, request_id: requestId } = problem;
  return new CliFailure({
    // A code that is newer than the SDK stands at the end of the type.
    code: code === 'unknown_code' ? (problem.type.split(':').at(-1) ?? code) : code,
    title,
    detail,
    remedy: remedyOf(code),
    fields,
    requestId,
    exitCode: exitCodeOfAnswer(problem),
  });
}

function exitCodeOfAnswer({ status }: ApiProblem): ExitCode {
  if (status === 401 || status === 403) return exitCode.notAllowed;
  if (status === 429 || status >= 500) return exitCode.away;
  return status === 400 || status === 413 || status === 422 ? exitCode.wrongUse : exitCode.failed;
}
