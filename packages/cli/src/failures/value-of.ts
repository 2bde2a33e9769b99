import type { ApiProblem, LocalCode, Problem, Result } from '@inlet/sdk';
import { exitCode, type ExitCode } from '../exit-code.ts';
import { CliFailure } from './cli-failure.ts';
import { remedyOf } from './remedies.ts';

/** The value of a call, or the end of the command. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw failureOf(result.problem);
}

export function failureOf(problem: Problem): CliFailure {
  if (problem.from === 'sdk') {
    const { code, attempts } = problem;
    const detail = attempts > 1 ? `${problem.detail} (tried ${attempts} times)` : problem.detail;
    return new CliFailure({ code, detail, remedy: remedyOf(code), exitCode: exitCodeOfTheWay[code] });
  }
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

const exitCodeOfTheWay: Readonly<Record<LocalCode, ExitCode>> = {
  network_failed: exitCode.away,
  timed_out: exitCode.away,
  aborted: exitCode.interrupted,
  unreadable_answer: exitCode.away,
  invalid_argument: exitCode.wrongUse,
  unreadable_file: exitCode.failed,
  storage_refused: exitCode.failed,
};

function exitCodeOfAnswer({ status }: ApiProblem): ExitCode {
  if (status === 401 || status === 403) return exitCode.notAllowed;
  if (status === 429 || status >= 500) return exitCode.away;
  return status === 400 || status === 413 || status === 422 ? exitCode.wrongUse : exitCode.failed;
}
