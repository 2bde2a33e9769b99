import type { ApiProblem, Problem, Result } from '@inlet/sdk';
import { remedies as remediesOfRequests } from '../generated/remedies.ts';
import { CliFailure, type ExitCode, exitCode } from './cli-failure.ts';
import { connectionFailure } from './connection-errors.ts';

/** The value of a call, or the end of the command. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw failureOf(result.problem);
}

export function failureOf(problem: Problem): CliFailure {
  if (problem.from === 'sdk') return connectionFailure(problem);
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

/** Where the catalogue speaks of a field of the request, and a person at this command line has a flag. */
const remediesOfFlags: Readonly<Record<string, string>> = {
  invalid_request: 'Correct what is named above. `inlet <command> --help` shows how it is given.',
  unauthenticated: 'Run `inlet login` with a key that is valid, or mend INLET_API_KEY.',
  invalid_user_token: 'Set INLET_USER_TOKEN to a valid token, or leave it out for audiences of your own.',
  compressed_required: 'Say --compressed or --no-compressed for a prefix.',
  credentials_required: 'For s3://… give --region and --access-key-id, or --region and --role-arn.',
  invalid_region: 'Give the region of the bucket with --region, for example eu-central-1.',
  invalid_role_arn: 'Give the ARN of the role with --role-arn, for example arn:aws:iam::123456789012:role/inlet.',
  roles_not_available: 'Give --access-key-id in place of --role-arn, or ask the operator for roles.',
  unknown_keys: '`inlet attributes` shows your attributes and their keys; --key-type says which of them you mean.',
  invalid_file_path:
    'Give a path below your prefix without `..` and a leading `/`, or s3://<bucket>/<path> for a bucket of your own.',
  compression_mismatch: 'Import with --compressed or --no-compressed as the file is, or upload the file as announced.',
  no_good_row:
    'See the rows with `inlet errors`, correct the file, upload it and import it again. `inlet check` judges it before.',
  bad_rows: 'See the rows with `inlet errors --audience`, correct the file, upload it and append it again.',
  unknown_code: 'This service is newer than your `inlet`: the detail says what is wrong. Update `inlet` to see more.',
};

/** What a person does about a code of an answer or of a job. What went wrong on the way: failure-of-the-way.ts. */
export function remedyOf(code: string): string {
  for (const table of [remediesOfFlags, remediesOfRequests]) if (Object.hasOwn(table, code)) return table[code] ?? '';
  return '';
}
