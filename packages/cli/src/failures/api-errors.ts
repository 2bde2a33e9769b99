import type { Problem, Result } from '@inlet/sdk';
import { remedies as apiRemedies } from '../generated/remedies.ts';
import { CliFailure, type ExitCode, exitCode } from './cli-failure.ts';
import { connectionFailure } from './connection-errors.ts';

/** Returns the value of a call. Throws if the call failed, which ends the command. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw failureOf(result.problem);
}

export function failureOf(problem: Problem): CliFailure {
  if (problem.from === 'sdk') return connectionFailure(problem);
  const { code, title, detail, errors: fields, request_id: requestId } = problem;
  return new CliFailure({
    // `type` ends with the code, even if the code is newer than the SDK.
    code: code === 'unknown_code' ? (problem.type.split(':').at(-1) ?? code) : code,
    title,
    detail,
    remedy: remedyOf(code),
    fields,
    requestId,
    status: problem.status,
    exitCode: exitCodeOf(problem.status),
  });
}

/** Returns the exit code for the status of a failure, as in docs/decisions/command-line.md. */
export function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCode.notAllowed;
  if (status === 429 || status >= 500) return exitCode.unavailable;
  return status === 400 || status === 413 || status === 422 ? exitCode.wrongUse : exitCode.failed;
}

/** Replacements for catalog remedies that refer to request fields instead of command-line options. */
const cliRemedies: Readonly<Record<string, string>> = {
  invalid_request: 'Correct the values listed above. Run `inlet <command> --help` for usage.',
  unauthenticated: 'Run `inlet login` with a valid key, or correct INLET_API_KEY.',
  invalid_user_token: 'Set INLET_USER_TOKEN to a valid token, or unset it to use your own audiences.',
  compressed_required: 'Pass --compressed or --no-compressed for a prefix.',
  credentials_required: 'For an s3:// path, pass --region with --access-key-id or --role-arn.',
  credentials_not_allowed: 'Omit --access-key-id and --role-arn, or pass an s3:// path of your own bucket.',
  invalid_region: 'Pass the bucket region with --region, for example eu-central-1.',
  invalid_role_arn: 'Pass the role ARN with --role-arn, for example arn:aws:iam::123456789012:role/inlet.',
  roles_not_available: 'Pass --access-key-id instead of --role-arn, or ask the operator to enable roles.',
  unknown_keys: 'Run `inlet attributes` to list your attributes and keys. Check --key-type.',
  invalid_file_path:
    'Pass a path relative to your prefix, without `..` or a leading `/`, or s3://<bucket>/<path> for your own bucket.',
  compression_mismatch: 'Pass --compressed or --no-compressed to match the file, or upload it in the declared format.',
  no_good_row:
    'List the rows with `inlet errors`, correct the file, validate it with `inlet check`, and import it again.',
  bad_rows: 'List the rows with `inlet errors --audience`, correct the file, upload it, and append it again.',
  unknown_code: 'The service is newer than this `inlet`. Update `inlet` for more information.',
};

/** Returns the remedy for an API or job error code. For connection errors, see connection-errors.ts. */
export function remedyOf(code: string): string {
  for (const table of [cliRemedies, apiRemedies]) if (Object.hasOwn(table, code)) return table[code] ?? '';
  return '';
}
